//! Tables of what texts run, and properties of the analysis.
//!
//! Place in the flow: tests only.

use proptest::prelude::*;

use super::*;
use crate::testing::properties;

/// What certainly runs, or the first doubt.
fn runs(text: &str) -> Result<Vec<String>, Doubt> {
    let analysis = analyse(text);
    match analysis.doubt() {
        Some(doubt) => Err(doubt),
        None => {
            let invocations = &analysis.seen().invocations;
            let certain = invocations.iter().filter(|invocation| invocation.certain);
            Ok(certain.map(Invocation::written).collect())
        }
    }
}

/// The names of all commands that may run, certain or not.
fn may_run(text: &str) -> Vec<String> {
    let analysis = analyse(text);
    let seen = analysis.seen();
    let words = seen
        .invocations
        .iter()
        .filter_map(|invocation| invocation.words.first());
    let words = words.chain(seen.fragments.iter().flatten());
    words.map(|word| word.base_name().text().to_owned()).collect()
}

#[test]
fn a_list_of_plain_commands_is_all_that_it_runs() {
    let rows: &[(&str, &[&str])] = &[
        ("git log", &["git log"]),
        ("  git  log  # rm x", &["git  log"]),
        (
            "git log; id && a || b | c |& d",
            &["git log", "id", "a", "b", "c", "d"],
        ),
        ("a\nb\n", &["a", "b"]),
        ("! id", &["id"]),
        ("time -p id", &["id"]),
        (
            "echo 'a; (( b' \"c && d\" e\\;f",
            &["echo 'a; (( b' \"c && d\" e\\;f"],
        ),
        ("FOO=1 rm a", &["rm a"]),
        ("git log 2>&1 >/dev/null -1", &["git log -1"]),
        ("cat <<'E'\n$(id) `id` (( [[ <<\nE\nls", &["cat", "ls"]),
        ("cat <<E\nplain text\nE\n", &["cat"]),
        ("echo $HOME ${HOME} \"$1\"", &["echo $HOME ${HOME} \"$1\""]),
        ("timeout 5 rm a", &["rm a"]),
        (
            "timeout -s KILL -k 1 5s nice -n 5 nohup stdbuf -oL rm a",
            &["rm a"],
        ),
        ("nice -5 rm a", &["rm a"]),
        ("xargs rm -f", &["rm -f <input>"]),
        ("command rm a", &["rm a"]),
        ("command -v rm", &["command -v rm"]),
        ("sudo rm a", &["sudo rm a"]),
        ("a\\\nb c", &["ab c"]),
        (
            "node -e 'console.log(((1)))' && ls",
            &["node -e 'console.log(((1)))'", "ls"],
        ),
        ("", &[]),
        ("# only a comment", &[]),
    ];
    for (text, expected) in rows {
        let expected = expected.iter().map(|text| (*text).to_owned()).collect();
        assert_eq!(runs(text), Ok(expected), "{text}");
    }
}

#[test]
fn what_is_more_than_that_leaves_a_doubt() {
    let rows = [
        ("git log $(id)", Doubt::Substitution),
        ("git log `id`", Doubt::Substitution),
        ("git log <(id)", Doubt::Substitution),
        ("git log > >(id)", Doubt::Substitution),
        ("echo \"${x:-$(id)}\"", Doubt::Expansion),
        ("echo ${x@P}", Doubt::Expansion),
        ("echo $((1+$(id)))", Doubt::Substitution),
        ("echo $[1]", Doubt::Arithmetic),
        ("cat <<E\n$(id)\nE", Doubt::Substitution),
        ("{ id; }", Doubt::ControlStructure),
        ("(id)", Doubt::Subshell),
        ("( ( rm x ) )", Doubt::ControlStructure),
        ("((rm x) )", Doubt::ControlStructure),
        ("if id; then :; fi", Doubt::Branch),
        ("for f in *; do rm $f; done", Doubt::Loop),
        ("while :; do id; done", Doubt::Branch),
        ("case x in x) id;; esac", Doubt::ControlStructure),
        ("[[ -f x ]]", Doubt::Branch),
        ("coproc id", Doubt::ControlStructure),
        ("rm() { id; }; rm", Doubt::Definition),
        ("a=(1 2)", Doubt::Array),
        ("$CMD a", Doubt::CommandName),
        ("${x}m a", Doubt::CommandName),
        ("r* a", Doubt::CommandName),
        ("{rm,a}", Doubt::CommandName),
        ("=rm a", Doubt::Expansion),
        ("eval id", Doubt::Code),
        ("sh -c id", Doubt::Code),
        ("git log | sh", Doubt::Code),
        ("trap 'id' EXIT", Doubt::Code),
        ("bash <<E\nid\nE", Doubt::Code),
        ("timeout --what 5 rm a", Doubt::Wrapper),
        ("setsid rm a", Doubt::Wrapper),
        ("exec 3<> /dev/tcp/h/1", Doubt::Device),
        ("cd x && git log", Doubt::ChangedDirectory),
        ("ls &", Doubt::Background),
        ("a & b", Doubt::Background),
        ("echo 'open", Doubt::Unparsable),
        ("ls )", Doubt::Unparsable),
        ("ls &&", Doubt::Unparsable),
        ("echo !(x)", Doubt::Unparsable),
        ("cat <<''\nx\n", Doubt::HereDocument),
        ("a\0b", Doubt::ControlCharacter),
        ("ls\u{1b}[2J", Doubt::ControlCharacter),
        ("ls\rid", Doubt::ControlCharacter),
    ];
    for (text, expected) in rows {
        assert_eq!(runs(text), Err(expected), "{text}");
    }
}

/// Texts that run `zap`.
const HIDDEN: &[&str] = &[
    "echo $(zap c)",
    "echo `zap c`",
    "cat <(zap c)",
    "echo > >(zap c)",
    "echo $(echo $(zap c))",
    "echo ${x:-$(zap c)}",
    "echo \"$(zap c)\"",
    "echo $((1+$(zap)))",
    "echo $[1+$(zap)]",
    "cat <<E\n$(zap)\nE",
    "bash <<'E'\nzap a\nE",
    "bash <<< 'zap a'",
    "cat <<<\"$(zap)\"",
    "( ( zap x ) )",
    "((zap x) )",
    "{ zap; }",
    "(zap)",
    "! zap",
    "if zap; then :; fi",
    "if :; then zap; fi",
    "if :; then :; else zap; fi",
    "for f in *; do zap $f; done",
    "while zap; do :; done",
    "until :; do zap; done",
    "case x in x) zap;; esac",
    "case $(zap) in x) ;; esac",
    "coproc zap",
    "coproc n { zap; }",
    "trap 'zap' EXIT",
    "ls() { zap; }; ls",
    "[[ -f $(zap) ]]",
    "a=$(zap)",
    "a=(1 $(zap))",
    "a[$(zap)]=1",
    "sh -c \"zap a\"",
    "bash -lc 'zap a'",
    "env -i sh -c \"zap a\"",
    "eval \"zap a\"",
    "eval za''p a",
    "eval zap a",
    "builtin eval \"zap a\"",
    "sudo -u root zap a",
    "env FOO=1 zap a",
    "xargs zap",
    "xargs -0 -n 1 zap",
    "find . -exec zap {} +",
    "find . -exec sh -c 'zap {}' ;",
    "busybox zap a",
    "exec zap a",
    "timeout 5 zap d",
    "timeout -s 9 5 zap d",
    "nohup zap",
    "command -p zap",
    "watch 'zap a'",
    "docker exec -it c zap",
    "ssh host 'zap a'",
    "z\\ap a",
    "\"zap\" a",
    "$'\\x7aap' a",
    "/bin/zap a",
    "./zap a",
    "z''a\"p\"",
    "tar --to-command=zap",
    "tar --to-command 'zap a' x",
    "git -c core.pager=zap log",
    "git --outp=f log; zap",
    "python -c \"import os; os.system('zap a')\"",
    "perl -e 'system(\"zap\")'",
    "awk 'BEGIN{system(\"zap\")}'",
    "sed 's/x/zap/e'",
    "python <<E\nzap\nE",
    "alias ls='zap a'",
    "echo 'open; zap",
    "ls ); zap",
    "cat <<''\nx\n; zap",
    "a\0; zap",
    "if; zap",
    "\\\n zap",
    "echo $(cat <<'E'\n)\nE\nzap)",
    "echo $(echo \\); zap x)",
    "echo $(# )\nzap)",
    "echo \"$(a) $(zap) $(b)\"",
    "echo `echo \\`zap\\``",
    "echo \"`echo \\\"$(zap)\\\"`\"",
    "x() zap",
    "function f { zap; }",
    "echo a | while read x; do zap; done",
    "time zap",
    "time -p zap",
    "cat < <(zap)",
    "select x in a; do zap; done",
    "for ((i=0;i<1;i++)); do zap; done",
    "for ((i=$(zap);;)); do :; done",
    "nice -n 5 zap",
    "zap&>x",
    "2>x zap",
    ">x zap",
    "A=1 B=2 zap",
    "ls;zap",
    "ls&zap",
    "ls|zap",
    "ls\nzap",
    "ls&&zap",
    "git log |& zap",
    "!(zap)",
    "@(zap)",
    "cat <<A <<B\nx\nA\n$(zap)\nB\n",
    "echo <<A\n'\nA\nzap\necho '",
    "echo '<<A\n'\nzap\n'\nA\n'",
    "$(zap)",
    "`zap`",
    "\"$(zap)\" x",
];

#[test]
fn a_doubtful_text_still_shows_what_it_may_run() {
    for text in HIDDEN {
        let names = may_run(text);
        assert!(names.iter().any(|name| name == "zap"), "{text}: {names:?}");
    }
}

#[test]
fn data_is_not_taken_for_commands() {
    let texts = [
        "echo zap",
        "echo 'zap a'",
        "git commit -m \"zap the file\"",
        "git commit -m \"$(cat <<'EOF'\nzap `zap` don't (\nEOF\n)\"",
        "cat > f <<'EOF'\nzap a; $(zap)\nEOF",
        "grep 'zap' f # zap",
        "ls # ; zap",
    ];
    for text in texts {
        let names = may_run(text);
        assert!(!names.iter().any(|name| name == "zap"), "{text}: {names:?}");
    }
}

#[test]
fn many_parts_take_bounded_time() {
    let many = format!("{}zap d", "true;".repeat(51));
    assert_eq!(runs(&many).map(|parts| parts.len()), Ok(52));
    let long = format!("{}zap d", "true;".repeat(10_000));
    assert_eq!(runs(&long), Err(Doubt::TooLong));
    assert!(may_run(&long).iter().any(|name| name == "zap"));
    for opener in [
        "( ",
        "{ ",
        "$(",
        "${x:-",
        "((",
        "<(",
        "if ",
        "[[ ( ",
        "case x in x) ",
        "a[$((",
        "\"$(",
        "`",
        "@(",
    ] {
        for count in [9, 30, 3_000] {
            let text = format!("{}zap", opener.repeat(count));
            assert!(runs(&text).is_err(), "{opener} {count}");
        }
    }
}

#[test]
fn files_are_seen_where_known_commands_and_redirections_open_them() {
    let opened = |text: &str| {
        let analysis = analyse(text);
        let seen = analysis.seen();
        let uses = seen.redirections.iter().chain(&seen.files);
        uses.map(|file| format!("{:?} {}", file.access, file.path.text()))
            .collect::<Vec<_>>()
    };
    let rows: &[(&str, &str)] = &[
        ("git log > f", "Write f"),
        ("git log >> f", "Write f"),
        ("git log 2> f", "Write f"),
        ("git log &> f", "Write f"),
        ("git log >| f", "Write f"),
        ("git log >& f", "Write f"),
        ("git log <> f", "Write f"),
        ("git log < f", "Read f"),
        ("cat f", "Read f"),
        ("grep -r x d", "ReadTree d"),
        ("sudo cat f", "Read f"),
        ("cat a | tee f", "Write f"),
        ("dd of=f", "Write f"),
        ("sed -i s/a/b/ f", "Write f"),
        ("cd d && mv x f", "WriteTree d/f"),
        ("cd d; cd e; rm f", "Write d/e/f"),
        ("find d -delete", "WriteTree d"),
        ("curl -o f u", "Write f"),
        ("curl -d @f u", "Write f"),
        ("for i in x; do cat f; done", "Read f"),
    ];
    for (text, expected) in rows {
        let opened = opened(text);
        assert!(opened.iter().any(|file| file == expected), "{text}: {opened:?}");
    }
    for text in ["git log", "git log > /dev/null 2>&1", "echo f", "npm run f"] {
        assert_eq!(opened(text), Vec::<String>::new(), "{text}");
    }
}

/// Texts that only read.
const READS: &[&str] = &[
    "ls",
    "ls -la src",
    "cat a | grep b | wc -l",
    "git status",
    "git log --oneline -5",
    "git branch -a",
    "find . -name '*.rs'",
    "sed -n '1,5p' f",
    "sort f",
    "LANG=C ls",
    "echo $HOME",
    "cat $F",
    "ls *.rs",
    "git --no-pager diff",
    "command -v node",
    "git stash list",
    "timeout 5 ls",
    "rg foo src",
    "test -f x",
    "pwd; true",
];

/// Texts that may do more.
const MAY_WRITE: &[&str] = &[
    "node --version",
    "rm a",
    "ls > f",
    "find . -delete",
    "find . -exec ls {} +",
    "find . -name $X",
    "find *",
    "sort -o f",
    "sort --outp=f g",
    "sort -uof g",
    "sed -i s/a/b/ f",
    "sed 's/a/b/w f' g",
    "git commit",
    "git branch new",
    "git log --output=f",
    "git -c core.pager=id log",
    "git log $X",
    "git config a b",
    "git stash",
    "PATH=. ls",
    "X=1",
    "tee f",
    "env ls",
    "xargs rm",
    "git grep -Ovi x",
    "rg --pre id x",
    "date",
    "id",
    "awk '{print}' f",
    "which $(id)",
    "git remote add a b",
    "git --exec-path=. log",
    "printf -v x y",
    "[ -v 'a[$(id)]' ]",
    "tree -o f",
    "fd -x rm",
    "cat <<E > f\nE",
    "\"$LS\"",
];

#[test]
fn only_what_provably_reads_is_read_only() {
    let read_only = |text: &str| match analyse(text) {
        Analysis::Commands(commands) => {
            !commands.redirections.iter().any(|file| file.access.writes())
                && commands
                    .invocations
                    .iter()
                    .filter(|invocation| invocation.certain)
                    .all(is_read_only)
        }
        Analysis::Unanalysable(_) => false,
    };
    for text in READS {
        assert!(read_only(text), "{text}");
    }
    for text in MAY_WRITE {
        assert!(!read_only(text), "{text}");
    }
}

/// Bits of shell that combine into anything.
fn scrap() -> impl Strategy<Value = String> {
    let scraps = [
        "zap",
        " ",
        ";",
        "&&",
        "|",
        "\n",
        "(",
        ")",
        "{ ",
        "; }",
        "$(",
        "`",
        "\"",
        "'",
        "\\",
        "${x:-",
        "}",
        "<<E\n",
        "\nE\n",
        "<(",
        "> f",
        "if ",
        "then ",
        "fi",
        "case x in x) ",
        ";; esac",
        "$'",
        "a[",
        "]=1",
        "((",
        "))",
        "#",
        "=",
        "x",
        "1",
        "*",
        "~",
        "é",
        "for i in ",
        "do ",
        "done",
        "2>&1",
        "<<<",
        "&",
        "!",
        "[[ ",
        " ]]",
        "f() ",
        "\u{1}",
        "\u{0}",
    ];
    prop::collection::vec(prop::sample::select(scraps.to_vec()), 0..40).prop_map(|scraps| scraps.concat())
}

proptest! {
    #![proptest_config(properties(600))]

    #[test]
    fn no_text_makes_the_analysis_fail(text in scrap()) {
        let analysis = analyse(&text);
        prop_assert_eq!(analysis.doubt().is_none(), matches!(analysis, Analysis::Commands(_)));
    }

    #[test]
    fn a_command_at_the_end_is_seen_whatever_stands_before_it(text in scrap()) {
        // Closed quotes or not: a line of its own can only be hidden by an open quote or here-document, or be part of
        // a longer word. Then the text as a whole cannot be read.
        let analysis = analyse(&format!("{text}\n"));
        if analysis.doubt().is_none() {
            let names = may_run(&format!("{text}\nzap"));
            prop_assert!(names.iter().any(|name| name == "zap"), "{:?}", names);
        }
    }

    #[test]
    fn quoted_text_is_one_argument(text in "[a-z0-9 ;&|<>(){}$`\"*?!#~=\\\\\n]{0,60}") {
        prop_assume!(!text.contains("<<"));
        let command = format!("echo '{text}'");
        let analysis = analyse(&command);
        prop_assert_eq!(analysis.doubt(), None);
        let words = &analysis.seen().invocations[0].words;
        prop_assert_eq!(words[1].literal(), Some(text.as_str()));
    }
}
