//! Rules about commands: the forms of the grammar, and the numbered cases.
//!
//! Place in the flow: tests only.

use super::*;

#[test]
fn every_form_means_what_the_grammar_says() {
    let rows = [
        ("allow Bash(npm run build)", "npm run build", Allow),
        ("allow Bash(npm run build)", "npm run build x", Nothing),
        ("allow Bash(npm run build)", "npm  run build", Nothing),
        ("deny Bash(npm run build)", "npm  run build", Deny),
        ("allow Bash(npm test:*)", "npm test", Allow),
        ("allow Bash(npm test:*)", "npm test a b", Allow),
        ("allow Bash(npm test:*)", "npm testx", Nothing),
        ("allow Bash(npm:run *)", "npm:run x", Allow),
        ("allow Bash(npm:run *)", "npm run x", Nothing),
        ("allow Bash(git *)", "git", Allow),
        ("allow Bash(git *)", "git push", Allow),
        ("allow Bash(git *)", "gitk", Nothing),
        ("allow Bash(foo*)", "foobar x", Allow),
        ("allow Bash(* --version)", "node --version", Allow),
        ("allow Bash(git * main)", "git push origin main", Allow),
        ("allow Bash(git * main)", "git push origin dev", Nothing),
        ("deny Bash(git * main)", "git push 'main'", Deny),
        ("deny Bash(echo \"a b\")", "echo 'a b'", Deny),
        ("deny Bash(curl *)", "curl  http://x", Deny),
        ("deny Bash(run_in_background:true)", "ls", Allow),
    ];
    for (rule, command, expected) in rows {
        assert_eq!(bash(rule, command), expected, "{rule}: {command}");
    }
}

#[test]
fn case_76_a_deny_rule_wins_over_a_narrower_allow_rule() {
    assert_eq!(
        bash("deny Bash(aws *) + allow Bash(aws s3 ls)", "aws s3 ls"),
        Deny
    );
}

#[test]
fn case_77_an_ask_rule_wins_over_an_allow_rule() {
    assert_eq!(bash("allow Bash(npm test) + ask Bash(npm *)", "npm test"), Ask);
}

#[test]
fn case_78_an_allow_rule_needs_every_part() {
    let rows = [
        ("npm test && rm x", Nothing),
        ("timeout 30 npm test", Allow),
        ("NODE_ENV=t npm test", Allow),
        ("PATH=x npm test", Nothing),
        ("npm test $(x)", Nothing),
        ("npm testx", Nothing),
        ("LD_PRELOAD=x npm test", Nothing),
        ("GIT_SSH_COMMAND=x npm test", Nothing),
        ("BASH_ENV=x npm test", Nothing),
        ("npm test && npm test x", Allow),
    ];
    for (command, expected) in rows {
        assert_eq!(bash("allow Bash(npm test *)", command), expected, "{command}");
    }
}

#[test]
fn case_79_a_deny_rule_finds_its_command_anywhere() {
    for command in ["FOO=1 rm a", "echo a; rm b", "echo $(rm c)"] {
        assert_eq!(bash("deny Bash(rm *)", command), Deny, "{command}");
    }
}

#[test]
fn what_bash_may_or_may_not_run_holds_for_monitor_too() {
    let rm = json!({ "command": "echo a; rm b", "description": "watch" });
    let rows = [
        ("deny Bash(rm *)", Deny),
        ("deny Bash", Deny),
        ("deny B*", Deny),
        ("ask Bash(rm *)", Ask),
        ("deny Monitor(rm *)", Deny),
        ("allow Bash(rm *) + allow Bash(echo *)", Allow),
        ("allow Monitor(rm *) + allow Monitor(echo *)", Nothing),
        ("allow Bash", Nothing),
        ("allow Monitor", Allow),
        ("deny PowerShell(rm *)", Nothing),
    ];
    for (rules, expected) in rows {
        assert_eq!(say(rules, "Monitor", &rm), expected, "{rules}");
    }
    assert_eq!(bash("deny Monitor(rm *)", "rm a"), Nothing);
}

#[test]
fn an_input_without_a_command_meets_limits_only() {
    for input in [json!({}), json!({ "command": 5 }), json!(null)] {
        assert_eq!(say("deny Bash(rm *)", "Bash", &input), Deny, "{input}");
        assert_eq!(say("allow Bash(rm *)", "Bash", &input), Nothing, "{input}");
    }
}

#[test]
fn another_shell_is_never_allowed_by_a_command() {
    let input = json!({ "command": "Get-Item a; Remove-Item b" });
    assert_eq!(say("allow PowerShell(Get-Item *)", "PowerShell", &input), Nothing);
    assert_eq!(say("allow PowerShell", "PowerShell", &input), Allow);
    assert_eq!(say("deny PowerShell(Remove-Item *)", "PowerShell", &input), Deny);
}

#[test]
fn an_accepted_edit_allows_the_redirection_but_not_the_command() {
    let input = json!({ "command": "git log > f" });
    let call = ToolCall::new("Bash", &input, workspace(&LexicalPaths));
    assert!(rules("allow Bash(git log *)").allows(&call, true).is_some());
    assert!(rules("").allows(&call, true).is_some(), "git log only reads");
    let input = json!({ "command": "git log > /etc/f" });
    let call = ToolCall::new("Bash", &input, workspace(&LexicalPaths));
    assert!(rules("allow Bash(git log *)").allows(&call, true).is_none());
}

#[test]
fn reading_inside_the_workspace_needs_no_rule() {
    let rows = [
        ("ls", Allow),
        ("cat a b", Allow),
        ("cat ../x", Nothing),
        ("cat /etc/passwd", Nothing),
        ("cat ~/x", Nothing),
        ("cat '~/x'", Allow),
        ("cat $F", Nothing),
        ("cat *", Nothing),
        ("cd src && cat a", Allow),
        ("cd / && cat etc/passwd", Nothing),
        ("grep -r x src", Allow),
        ("grep -r x /", Nothing),
        ("echo hi", Allow),
        ("cat < a", Allow),
        ("cat < ../a", Nothing),
        ("cd ~ && ls", Nothing),
        ("cd", Nothing),
        ("node --version", Nothing),
        ("git diff HEAD~1 main..x -- src", Allow),
        ("git diff /etc/passwd a", Nothing),
        ("git diff --no-index ../../x a", Nothing),
        ("git diff HEAD~1 main..x -- src", Allow),
        ("git diff /etc/passwd a", Nothing),
        ("git diff --no-index ../../x a", Nothing),
    ];
    for (command, expected) in rows {
        assert_eq!(bash("", command), expected, "{command}");
    }
    let linked = json!({ "command": "cat out/passwd" });
    assert_eq!(say_with(&rules(""), "Bash", &linked, &links()), Nothing);
}
