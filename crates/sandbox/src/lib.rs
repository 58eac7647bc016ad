//! Running a program.
