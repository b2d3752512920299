//! The host's control requests: which there are and what each does to the session.
//!
//! Place in the flow: `Engine` hands them over, whatever it is doing. Answers that only report something are made in
//! `reports`.

pub(crate) mod reports;

use claude_sdk_bridge::messages::control::{
    ControlRequest, ControlResponse, ErrorBody, HostControl, InitializeRequest, Interrupt, ResponseBody,
    SetModel, SetPermissionMode, SuccessBody,
};
use claude_sdk_bridge::messages::{
    CommandState, ControlId, Field, List, Message, MessageUuid, SessionState as State,
};
use permission_core::PermissionMode;
use serde_json::{Map, Value, json};

use crate::engine::call::hooks::HostHooks;
use crate::engine::core::Prompt;
use crate::engine::{Engine, Phase};
use crate::frames::{self, text};
use crate::script::HostEvent;

/// What is answered: a payload or none, or an error with its code.
type Answer = Result<Option<Value>, (String, Option<&'static str>)>;

impl Engine {
    pub(crate) fn control(&mut self, control: HostControl) {
        let id = control.request_id;
        // Requests with an effect of their own answer themselves, where in the order they want.
        match control.request {
            ControlRequest::Initialize(request) => self.initialize(&id, &request),
            ControlRequest::Interrupt(request) => self.interrupt(&id, &request),
            ControlRequest::SetPermissionMode(request) => self.set_mode(&id, &request),
            ControlRequest::SetModel(request) => self.set_model(&id, request),
            other => {
                let answer = reports::report(&other, &self.core).map_err(|text| (text, None));
                self.respond(&id, answer);
            }
        }
    }

    fn initialize(&mut self, id: &Field<ControlId>, request: &InitializeRequest) {
        if let Some(title) = request.title.as_str() {
            frames::title_changed(&mut self.core.out, title);
        }
        let questions = match &self.phase {
            Phase::Playing(turn) => turn.calls.open_questions(),
            Phase::Starting { .. } | Phase::Idle | Phase::Hung | Phase::Over(_) => List::default(),
        };
        let state = match &self.phase {
            Phase::Playing(_) if !questions.is_empty() => State::RequiresAction,
            Phase::Playing(_) => State::Running,
            Phase::Starting { .. } | Phase::Idle | Phase::Hung | Phase::Over(_) => State::Idle,
        };
        self.core.host_hooks = HostHooks::of(request);
        let mut offer =
            frames::initialize_response(&self.core.commands, self.core.mode, state, self.core.setup.pid);
        if let Value::Object(fields) = &mut offer {
            if self.core.host_hooks.are_there() {
                fields.insert("hooks_applied".to_owned(), true.into());
            }
            fields.extend(self.core.script.session.initialize.clone());
        }
        let body = SuccessBody {
            request_id: id.clone(),
            response: offer.into(),
            pending_permission_requests: questions.into(),
            pending_user_dialog_requests: List::default().into(),
            ..SuccessBody::default()
        };
        self.send_response(ResponseBody::Success(Box::new(body)));
    }

    fn interrupt(&mut self, id: &Field<ControlId>, request: &Interrupt) {
        let cancelled = if request.cancel_queued.is_true() {
            self.drop_queue()
        } else {
            Vec::new()
        };
        let mut receipt = json!({ "still_queued": uuids(self.core.queue.iter()) });
        if let (Value::Object(fields), true) = (&mut receipt, request.cancel_queued.is_true()) {
            fields.insert("cancelled".to_owned(), json!(uuids(cancelled.iter())));
        }
        match &mut self.phase {
            Phase::Playing(turn) if turn.ignores_interrupts() => {
                turn.notice(HostEvent::Interrupt);
                self.respond(id, Ok(Some(receipt)));
            }
            Phase::Playing(turn) => {
                let withdrawn = turn.calls.withdraw(&mut self.core);
                self.respond(id, Ok(Some(receipt)));
                self.core.runs_again(withdrawn);
                self.abort();
            }
            Phase::Starting { .. } | Phase::Idle | Phase::Hung | Phase::Over(_) => {
                self.respond(id, Ok(Some(receipt)));
            }
        }
    }

    fn drop_queue(&mut self) -> Vec<Prompt> {
        let dropped: Vec<Prompt> = std::mem::take(&mut self.core.queue).into();
        for prompt in &dropped {
            self.core.lifecycle(prompt, CommandState::Cancelled);
        }
        dropped
    }

    fn set_mode(&mut self, id: &Field<ControlId>, request: &SetPermissionMode) {
        let Some(mode) = PermissionMode::from_wire_id(&request.mode) else {
            self.respond(
                id,
                Err((text::INVALID_MODE.to_owned(), Some(text::INVALID_MODE_CODE))),
            );
            return;
        };
        let launched_for_it = self.core.setup.allows_bypass();
        if mode == PermissionMode::BypassPermissions && !launched_for_it {
            self.respond(
                id,
                Err((text::BYPASS_NOT_LAUNCHED.to_owned(), Some(text::BYPASS_SETTING))),
            );
            return;
        }
        self.respond(id, Ok(Some(json!({ "mode": mode }))));
        self.core.switch_mode(mode);
    }

    fn set_model(&mut self, id: &Field<ControlId>, request: SetModel) {
        let name = request.model.into_known().unwrap_or_else(|| {
            let scripted = self
                .core
                .setup
                .options
                .model
                .clone()
                .or_else(|| self.core.script.session.model.clone());
            scripted.unwrap_or_else(|| frames::resolve_model(frames::DEFAULT_MODEL).to_owned())
        });
        let resolved = frames::resolve_model(&name).to_owned();
        if resolved != self.core.model {
            frames::local_command_output(&mut self.core.out, &text::model_set(&name, &resolved));
            self.core.model.clone_from(&resolved);
        }
        self.respond(id, Ok(Some(json!({ "model": resolved }))));
    }

    fn respond(&mut self, id: &Field<ControlId>, answer: Answer) {
        let body = match answer {
            Ok(payload) => ResponseBody::Success(Box::new(SuccessBody {
                request_id: id.clone(),
                response: payload.into(),
                ..SuccessBody::default()
            })),
            Err((error, code)) => ResponseBody::Error(Box::new(ErrorBody {
                request_id: id.clone(),
                error: error.into(),
                error_code: code.map(str::to_owned).into(),
                extra: Map::new(),
            })),
        };
        self.send_response(body);
    }

    fn send_response(&mut self, body: ResponseBody) {
        let response = ControlResponse {
            response: body,
            extra: Map::new(),
        };
        self.core.out.send(&Message::ControlResponse(Box::new(response)));
    }
}

fn uuids<'a>(prompts: impl Iterator<Item = &'a Prompt>) -> Vec<&'a MessageUuid> {
    prompts.filter_map(|prompt| prompt.uuid.as_ref()).collect()
}
