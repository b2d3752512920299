//! Reads settings files. Whatever stands at their paths, a link to an endless device included, is read in bounded time.

use std::fmt;
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use permission_core::rules::judged;
use permission_core::settings::{SettingsFile, SettingsSource};
use rustix::fs::{Mode, OFlags};

use super::Locations;

/// The largest settings file that is read.
pub const MAX_SETTINGS_BYTES: u64 = 1024 * 1024;

/// One settings file that exists.
#[derive(Clone, PartialEq, Eq)]
pub struct SettingsText {
    /// Whom it speaks for.
    pub source: SettingsSource,
    /// Where it is.
    pub path: PathBuf,
    /// What stands in it. May hold secrets.
    pub text: Result<String, SettingsReadError>,
}

/// Why a settings file that exists cannot be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SettingsReadError {
    /// Over [`MAX_SETTINGS_BYTES`].
    #[error("is larger than {MAX_SETTINGS_BYTES} bytes and is not used; shorten it")]
    TooLarge,
    /// A directory, a pipe, a device.
    #[error("is not a regular file and is not used; put a file in its place")]
    NotAFile,
    /// Not UTF-8.
    #[error("is not UTF-8 text and is not used; save it as UTF-8")]
    NotText,
    /// The system says no.
    #[error("cannot be read ({0}) and is not used; check its permissions")]
    Unreadable(io::ErrorKind),
}

/// Reads every file that exists, weakest source first.
pub fn read_all(locations: &Locations) -> Vec<SettingsText> {
    let texts = locations.files().filter_map(|(source, path)| {
        Some(SettingsText {
            source,
            path: path.to_owned(),
            text: read_file(path).transpose()?,
        })
    });
    texts.collect()
}

impl SettingsText {
    /// What the file says, and all that is wrong in it.
    pub fn parse(&self) -> SettingsFile {
        judged(match &self.text {
            Ok(text) => SettingsFile::parse(self.source, &self.path, text),
            Err(error) => SettingsFile::unreadable(self.source, &self.path, &error.to_string()),
        })
    }
}

impl fmt::Debug for SettingsText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SettingsText")
            .field("source", &self.source)
            .field("path", &self.path)
            .field("text_bytes", &self.text.as_ref().map(String::len))
            .finish()
    }
}

/// The text of a file; `None` if there is no such file.
///
/// # Errors
/// When there is something at the path that cannot be used as a settings file.
pub fn read_file(path: &Path) -> Result<Option<String>, SettingsReadError> {
    match read_bytes(path) {
        Ok(bytes) => String::from_utf8(bytes?)
            .map(Some)
            .map_err(|_| SettingsReadError::NotText),
        Err(error)
            if matches!(
                error.kind(),
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
            ) =>
        {
            Ok(None)
        }
        Err(error) => Err(SettingsReadError::Unreadable(error.kind())),
    }
}

fn read_bytes(path: &Path) -> io::Result<Result<Vec<u8>, SettingsReadError>> {
    // A pipe without a writer would otherwise hold us in `open`.
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let file = File::from(rustix::fs::open(path, flags, Mode::empty())?);
    if !file.metadata()?.is_file() {
        return Ok(Err(SettingsReadError::NotAFile));
    }
    let mut bytes = Vec::new();
    let length = file.take(MAX_SETTINGS_BYTES + 1).read_to_end(&mut bytes)?;
    if u64::try_from(length).is_ok_and(|length| length <= MAX_SETTINGS_BYTES) {
        Ok(Ok(bytes))
    } else {
        Ok(Err(SettingsReadError::TooLarge))
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    fn text_of(path: &Path) -> Option<Result<String, SettingsReadError>> {
        let locations = Locations {
            user: Some(path.to_owned()),
            ..Locations::default()
        };
        read_all(&locations).into_iter().next().map(|text| text.text)
    }

    #[test]
    fn whatever_stands_at_a_path_is_read_or_refused() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("file"), "{}").unwrap();
        fs::write(at("latin"), b"{\"a\": \"\xe9\"}").unwrap();
        let limit = usize::try_from(MAX_SETTINGS_BYTES).unwrap();
        fs::write(at("full"), " ".repeat(limit)).unwrap();
        fs::write(at("large"), " ".repeat(limit + 1)).unwrap();
        fs::create_dir(at("directory")).unwrap();
        let made = std::process::Command::new("mkfifo").arg(at("pipe")).status();
        assert!(made.unwrap().success());
        symlink("file", at("link")).unwrap();
        symlink("/dev/zero", at("endless")).unwrap();
        symlink("nowhere", at("dangling")).unwrap();
        symlink("loop", at("loop")).unwrap();
        let rows = [
            ("file", Some(Ok("{}".to_owned()))),
            ("link", Some(Ok("{}".to_owned()))),
            ("full", Some(Ok(" ".repeat(limit)))),
            ("large", Some(Err(SettingsReadError::TooLarge))),
            ("latin", Some(Err(SettingsReadError::NotText))),
            ("directory", Some(Err(SettingsReadError::NotAFile))),
            ("pipe", Some(Err(SettingsReadError::NotAFile))),
            ("endless", Some(Err(SettingsReadError::NotAFile))),
            ("dangling", None),
            ("absent", None),
            ("absent/file", None),
            ("file/below", None),
        ];
        for (name, expected) in rows {
            assert!(text_of(&at(name)) == expected, "{name}");
        }
        assert!(matches!(
            text_of(&at("loop")),
            Some(Err(SettingsReadError::Unreadable(_)))
        ));
    }

    #[test]
    fn files_come_weakest_first_and_an_unreadable_one_is_a_problem() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| Some(directory.path().join(name));
        let locations = Locations {
            user: at("user"),
            project: at("absent"),
            local: at("local"),
            managed: at("managed"),
        };
        fs::write(
            directory.path().join("user"),
            r#"{"permissions": {"defaultMode": "plan"}}"#,
        )
        .unwrap();
        fs::create_dir(directory.path().join("local")).unwrap();
        fs::write(
            directory.path().join("managed"),
            r#"{"permissions": {"defaultMode": "dontAsk"}}"#,
        )
        .unwrap();
        let texts = read_all(&locations);
        let sources: Vec<_> = texts.iter().map(|text| text.source).collect();
        assert_eq!(
            sources,
            [
                SettingsSource::User,
                SettingsSource::Local,
                SettingsSource::Managed
            ]
        );
        let settings = permission_core::settings::merge(texts.iter().map(SettingsText::parse));
        assert_eq!(
            settings.values.default_mode.unwrap().origin.source,
            SettingsSource::Managed
        );
        assert_eq!(settings.problems.len(), 1);
        assert!(settings.problems[0].to_string().contains("not a regular file"));
    }

    #[test]
    fn every_error_says_what_to_do() {
        let errors = [
            SettingsReadError::TooLarge,
            SettingsReadError::NotAFile,
            SettingsReadError::NotText,
            SettingsReadError::Unreadable(io::ErrorKind::PermissionDenied),
        ];
        insta::assert_snapshot!(errors.map(|error| error.to_string()).join("\n"));
    }

    #[test]
    fn a_text_is_never_shown_by_accident() {
        let text = SettingsText {
            source: SettingsSource::User,
            path: "settings.json".into(),
            text: Ok("secret".to_owned()),
        };
        assert!(!format!("{text:?}").contains("secret"));
    }
}
