//! Tables of what path rules cover and how paths are made absolute.
//!
//! Place in the flow: tests only.

use super::*;
use crate::wildcard::Glyph;

const PLACES: Places<'static> = Places {
    cwd: "/repo/app",
    current: "/repo/app",
    project_root: "/repo",
    home: Some("/home/u"),
    resolver: &LexicalPaths,
};

#[test]
fn a_rule_covers_what_its_pattern_says() {
    let rows = [
        ("//etc/x/**", "/etc/x/a/b", true),
        ("//etc/x/**", "/etc/x", true),
        ("//etc/x/**", "/etc/xy", false),
        ("//etc/x", "/etc/x", true),
        ("//etc/x", "/etc/x/below", true),
        ("//etc/*", "/etc/x", true),
        ("//etc/*.conf", "/etc/a.conf", true),
        ("//etc/*.conf", "/etc/d/a.conf", false),
        ("//etc/**/*.conf", "/etc/d/e/a.conf", true),
        ("//**", "/anything/at/all", true),
        ("~/x/**", "/home/u/x/f", true),
        ("~/x/**", "/home/v/x/f", false),
        ("/src/**", "/repo/src/a", true),
        ("/src/**", "/repo/app/src/a", false),
        ("src/**", "/repo/app/src/a", true),
        ("src/**", "/repo/app/deep/src/a", false),
        ("./src/**", "/repo/app/src/a", true),
        (".env", "/repo/app/.env", true),
        (".env", "/repo/app/deep/.env", true),
        (".env", "/repo/.env", false),
        ("./.env", "/repo/app/deep/.env", true),
        ("./src/**", "/repo/app/deep/src/a", false),
        ("/*", "/repo/app", true),
        ("**", "/repo/app/x/y", true),
        ("**", "/repo/app", true),
        ("**", "/repo/x", false),
        ("secrets", "/repo/app/a/secrets/key", true),
        ("a?c", "/repo/app/abc", true),
        ("a/[bc]/d", "/repo/app/a/b/d", true),
        ("a/[bc]/d", "/repo/app/a/[bc]/d", false),
    ];
    for (content, path, expected) in rows {
        let rule = RulePath::parse(content).unwrap();
        assert_eq!(
            rule.covers(&PLACES.subject(path), &PLACES),
            expected,
            "{content} {path}"
        );
    }
    let homeless = Places { home: None, ..PLACES };
    let rule = RulePath::parse("~/x/**").unwrap();
    assert!(
        !rule.covers(&homeless.subject("/home/u/x/f"), &homeless),
        "an unknown home covers nothing"
    );
}

#[test]
fn a_pattern_that_readers_take_differently_is_no_path() {
    let refused = [
        "", "*", "/", "//", "~/", "./", "!a", "#a", "~a", "a//b", "///a", "a/../b", "..", "./.", "a/./b",
        "a\\b", "{a,b}", "[a", "a]", "[a/b]", "[[a]",
    ];
    for content in refused {
        assert_eq!(RulePath::parse(content), None, "{content}");
    }
}

#[test]
fn paths_become_absolute_without_steps() {
    let rows = [
        ("/a/./b//c/", "/a/b/c"),
        ("/a/../../b", "/b"),
        ("x/../y", "/repo/app/y"),
        ("../x", "/repo/x"),
        ("~/x", "/home/u/x"),
        ("~x", "/repo/app/~x"),
        ("/", "/"),
    ];
    for (path, expected) in rows {
        assert_eq!(PLACES.subject(path).given, expected, "{path}");
    }
}

#[test]
fn a_directory_covers_what_is_below_it() {
    let covers = |directory: &str, path: &str| PLACES.directory_covers(directory, &PLACES.subject(path));
    assert!(covers("/w/log", "/w/log/a/b"));
    assert!(covers("/w/log", "/w/log"));
    assert!(covers("/", "/w"));
    assert!(!covers("/w/log", "/w/logs/a"));
    assert!(!covers("/w/log", "/w/log/../a"));
}

#[test]
fn a_limiting_rule_covers_by_either_name_and_whatever_cannot_be_told() {
    use crate::testing::Links;
    let links = Links::new(&[
        ("/repo/app/notes.txt", Some("/repo/app/.env")),
        ("/repo/app/nowhere", None),
        ("/repo/app/lib", Some("/elsewhere/lib")),
    ]);
    let places = Places {
        resolver: &links,
        ..PLACES
    };
    let rows = [
        (".env", "notes.txt", true),
        ("notes.txt", "notes.txt", true),
        (".env", "other.txt", false),
        (".env", "nowhere", true),
        ("lib/**", "/elsewhere/lib/a", true),
        ("//elsewhere/**", "lib/a", true),
        ("./.env", "a/../.env", true),
        (".env", ".ENV", true),
        ("Lib/**", "liB/a", true),
    ];
    for (content, path, expected) in rows {
        let rule = RulePath::parse(content).unwrap();
        assert_eq!(
            rule.may_cover(&places.subject(path), &places),
            expected,
            "{content} {path}"
        );
    }
    let homeless = Places { home: None, ..PLACES };
    let rule = RulePath::parse("~/x/**").unwrap();
    assert!(rule.may_cover(&homeless.subject("/home/u/x/f"), &homeless));
}

#[test]
fn a_limiting_rule_meets_what_a_path_may_become() {
    let names = |path: &str| -> Vec<Glyph> {
        let glyph = |c| match c {
            '*' => Glyph::Name,
            '…' => Glyph::Run,
            c => Glyph::Char(c),
        };
        path.chars().map(glyph).collect()
    };
    let rows = [
        (".env", "/repo/app/*", true),
        (".env", "/repo/app/src/*.rs", false),
        (".env", "/repo/app/.e*", true),
        (".env", "/repo/app/a/.env", true),
        ("src/**", "/repo/app/src/*", true),
        ("src/**", "/repo/app/s*", true),
        ("src/**", "/repo/app/lib/x*", false),
        ("a/**/b", "/repo/app/a/b", true),
        ("k[12].pem", "/repo/app/k1.pem", true),
        ("//etc/*.conf", "…/x.conf", true),
        ("secrets", "/repo/app/secrets/*", true),
    ];
    for (content, path, expected) in rows {
        let rule = RulePath::parse(content).unwrap();
        assert_eq!(rule.may_meet(&names(path), &PLACES), expected, "{content} {path}");
    }
}
