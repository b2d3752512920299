//! A named pipe between a test and a script: the script rings it (`echo ready > BELL`), or waits on it
//! (`read line < BELL`) until the test rings.

use std::fs::{File, OpenOptions};
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, channel};

use rustix::fs::{CWD, FileType, Mode, mknodat};

use super::PATIENCE;

/// A named pipe that is open for both directions, so that neither side ever blocks on opening it.
#[derive(Debug)]
pub struct Bell {
    path: PathBuf,
    pipe: File,
    rings: Option<Receiver<String>>,
}

impl Bell {
    /// A bell that scripts ring and the test hears.
    pub fn rung_by_script(path: &Path) -> Self {
        let mut bell = Self::waited_on_by_script(path);
        let (sender, rings) = channel();
        let pipe = BufReader::new(bell.pipe.try_clone().expect("a second handle"));
        std::thread::spawn(move || {
            for line in pipe.lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    return;
                }
            }
        });
        bell.rings = Some(rings);
        bell
    }

    /// A bell that the test rings and scripts wait on.
    pub fn waited_on_by_script(path: &Path) -> Self {
        mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).expect("a named pipe");
        let pipe = OpenOptions::new()
            .read(true)
            .write(true)
            .open(path)
            .expect("the named pipe");
        Self {
            path: path.to_owned(),
            pipe,
            rings: None,
        }
    }

    /// The path for the script.
    pub fn path(&self) -> &str {
        self.path.to_str().expect("a path in UTF-8")
    }

    /// Waits for the next ring and returns its line.
    pub fn wait(&self) -> String {
        let rings = self.rings.as_ref().expect("a bell that scripts ring");
        rings.recv_timeout(PATIENCE).expect("the script never rang")
    }

    /// Lets one waiting script go on.
    pub fn ring(&mut self) {
        self.pipe.write_all(b"go\n").expect("the named pipe takes a line");
    }
}

impl Drop for Bell {
    fn drop(&mut self) {
        // Ends the listening thread: its next line finds no receiver.
        if self.rings.take().is_some() {
            self.pipe.write_all(b"end\n").ok();
        }
    }
}
