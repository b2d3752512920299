//! The session of a chat: a new one, or an earlier conversation, which is shown as it was before the chat goes on.

use acp_proto::schema::{
    AgentCapabilities, ListSessionsRequest, ListSessionsResponse, LoadSessionRequest, LoadSessionResponse,
    NewSessionRequest, NewSessionResponse, SessionId, SessionInfo,
};

use super::ask::Asked;
use super::turn::Phase;
use super::{Chat, Conversation, Typed};
use crate::ChatError;
use crate::console::Input;
use crate::peer::{self, Event};
use crate::present::{sanitize, wording};

/// So many conversations fit a screen to choose from.
const SHOWN: usize = 20;

impl Chat {
    /// Opens the session that was asked for; nothing when the user interrupted it.
    pub(super) async fn session(
        &mut self,
        agent: &AgentCapabilities,
        shown: bool,
    ) -> Result<Option<SessionId>, ChatError> {
        let lists = agent.load_session && agent.session_capabilities.list.is_some();
        match self.options.conversation.clone() {
            Conversation::New => self.new_session().await,
            Conversation::Named(id) if agent.load_session => self.load(SessionId::new(id), shown).await,
            Conversation::Newest if lists => {
                let Some(sessions) = self.sessions().await? else {
                    return Ok(None);
                };
                match sessions.into_iter().next() {
                    Some(newest) => self.load(newest.session_id, shown).await,
                    None => Err(self.no_conversation()),
                }
            }
            Conversation::Chosen if lists => match self.choose().await? {
                Some(chosen) => self.load(chosen, shown).await,
                None => Ok(None),
            },
            Conversation::Named(_) | Conversation::Newest | Conversation::Chosen => {
                Err(ChatError::CannotGoBack)
            }
        }
    }

    async fn new_session(&mut self) -> Result<Option<SessionId>, ChatError> {
        let new = NewSessionRequest::new(self.options.cwd.clone());
        let answer = self
            .ask_agent::<_, NewSessionResponse>(peer::NEW_SESSION, &new)
            .await?;
        Ok(answer.map(|session| {
            if let Some(modes) = &session.modes {
                self.transcript.set_modes(modes);
            }
            session.session_id
        }))
    }

    /// The newest conversations of the directory.
    async fn sessions(&mut self) -> Result<Option<Vec<SessionInfo>>, ChatError> {
        let list = ListSessionsRequest::new().cwd(self.options.cwd.clone());
        let answer = self
            .ask_agent::<_, ListSessionsResponse>(peer::LIST_SESSIONS, &list)
            .await?;
        Ok(answer.map(|list| list.sessions))
    }

    async fn choose(&mut self) -> Result<Option<SessionId>, ChatError> {
        if !matches!(self.console.input, Input::Lines(_)) {
            return Err(ChatError::NobodyChooses);
        }
        let Some(mut sessions) = self.sessions().await? else {
            return Ok(None);
        };
        if sessions.is_empty() {
            return Err(self.no_conversation());
        }
        let more = sessions.len() > SHOWN;
        sessions.truncate(SHOWN);
        let mut text = String::new();
        for (index, session) in sessions.iter().enumerate() {
            let title = sanitize::line(session.title.as_deref().unwrap_or_default());
            let when = sanitize::line(session.updated_at.as_deref().unwrap_or_default());
            text.push_str(&wording::conversation(index + 1, &title, &when));
            text.push('\n');
        }
        if more {
            text.push_str(wording::OLDER_ONES);
            text.push('\n');
        }
        self.print(&text).await?;
        let count = sessions.len();
        loop {
            let marker = wording::which_conversation(count);
            let Typed::Text(number) = self.next_typed(&marker).await? else {
                return Ok(None);
            };
            let chosen = number
                .trim()
                .parse()
                .ok()
                .and_then(|number: usize| number.checked_sub(1));
            if let Some(session) = chosen.and_then(|index| sessions.get(index)) {
                return Ok(Some(session.session_id.clone()));
            }
            self.remark(&wording::not_an_option(count)).await?;
        }
    }

    /// Loads a session; what the agent tells of it is `shown`, or only what it asks.
    async fn load(&mut self, session: SessionId, shown: bool) -> Result<Option<SessionId>, ChatError> {
        let load = LoadSessionRequest::new(session.clone(), self.options.cwd.clone());
        let (line, response) = self.connection.prepare_request(peer::LOAD_SESSION, &load);
        peer::send(&self.connection, line).await?;
        self.transcript.show_prompts(true);
        tokio::pin!(response);
        let answer = loop {
            tokio::select! {
                biased;
                _ = self.console.interrupts.recv() => return Ok(None),
                Some(event) = self.events.next() => {
                    if self.told(event, shown).await? == Asked::Interrupted {
                        return Ok(None);
                    }
                }
                answer = &mut response => break peer::outcome(answer),
            }
        };
        while let Some(event) = self.events.waiting() {
            self.told(event, shown).await?;
        }
        self.transcript.show_prompts(false);
        let end = self.transcript.turn_ended(None);
        self.print(&end).await?;
        match answer {
            Ok(answer) => {
                let loaded: LoadSessionResponse = peer::read(peer::LOAD_SESSION, &answer)?;
                if let Some(modes) = &loaded.modes {
                    self.transcript.set_modes(modes);
                }
                Ok(Some(session))
            }
            Err(failure) => Err(self.chat_error(failure)),
        }
    }

    /// Takes what the agent tells of what was, and what it asks.
    async fn told(&mut self, event: Event, shown: bool) -> Result<Asked, ChatError> {
        match event {
            Event::Update(_) if !shown => Ok(Asked::Settled),
            Event::Update(_) | Event::Question(_) => self.turn_events(event, Phase::Running).await,
        }
    }

    fn no_conversation(&self) -> ChatError {
        ChatError::NoConversation(sanitize::line(&self.options.cwd.to_string_lossy()))
    }
}
