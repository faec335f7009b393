//! The form in which audit events are declared.

/// Declares [`AuditEvent`](super::AuditEvent) and [`AuditEventKind`](super::AuditEventKind). Each event has
///
/// - a variant: made from the row that stands for the entry, or with fields of its own;
/// - `= "name"`: the stable name. It is hashed with every entry and never changes;
/// - `of "words" expression`: the subject;
/// - `compared`: the fields of the detail that the row repeats. `audit verify --complete` and `why --recheck` compare them;
/// - `other`: fields that are not compared; `optional`: the same, left out if they are `None`;
/// - `added`: the names of fields that a writer may add ([`Entry::with`](crate::Entry::with)).
macro_rules! audit_events {
    ($(
        $(#[doc = $doc:literal])+
        $event:ident $(($row:ident: $row_type:ty))? $({ $($part:ident: $part_type:ty),+ $(,)? })?
            = $name:literal of $about:literal $subject:expr
            $(, compared [$($compared:literal: $compared_value:expr),+ $(,)?])?
            $(, other [$($other:literal: $other_value:expr),+ $(,)?])?
            $(, optional [$($optional:literal: $optional_value:expr),+ $(,)?])?
            $(, added [$($added:literal),+ $(,)?])?
        ;
    )+) => {
        /// Something that was decided or done, as the audit records it.
        #[derive(Clone, Copy, Debug)]
        pub enum AuditEvent<'a> {
            $($(#[doc = $doc])+ $event $(($row_type))? $({ $($part: $part_type),+ })?,)+
        }

        /// Which event an entry records: [`AuditEvent`] without what it was made from.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum AuditEventKind {
            $($(#[doc = $doc])+ $event,)+
        }

        impl AuditEvent<'_> {
            #[must_use]
            pub const fn kind(&self) -> AuditEventKind {
                match self {
                    $(Self::$event { .. } => AuditEventKind::$event,)+
                }
            }

            /// The id of what it was done to.
            #[must_use]
            #[expect(unused_variables, reason = "the subject is one of the parts")]
            pub fn subject(&self) -> String {
                match self {
                    $(Self::$event $(($row))? $({ $($part),+ })? => $subject.to_string(),)+
                }
            }

            /// What the event says by itself: what is compared, and what is not.
            #[must_use]
            #[expect(unused_variables, reason = "the subject is not repeated in the detail")]
            pub fn detail(&self) -> Map<String, Value> {
                let mut detail = Map::new();
                match self {
                    $(Self::$event $(($row))? $({ $($part),+ })? => {
                        $($(detail.insert($compared.to_owned(), json!($compared_value));)+)?
                        $($(detail.insert($other.to_owned(), json!($other_value));)+)?
                        $($(detail.extend($optional_value.map(|value| ($optional.to_owned(), json!(value))));)+)?
                    })+
                }
                detail
            }
        }

        impl AuditEventKind {
            /// Every kind there is, in the order of the declaration.
            pub const ALL: &'static [Self] = &[$(Self::$event),+];

            /// The stable name, as entries hold it.
            #[must_use]
            pub const fn name(self) -> &'static str {
                match self {
                    $(Self::$event => $name,)+
                }
            }

            /// The kind with this name; `None` for a name that this version does not write.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                match name {
                    $($name => Some(Self::$event),)+
                    _ => None,
                }
            }

            /// What happened, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self {
                    $(Self::$event => concat!($($doc),+).trim_ascii_start(),)+
                }
            }

            /// What the subject is the id or name of.
            #[must_use]
            pub const fn subject_name(self) -> &'static str {
                match self {
                    $(Self::$event => $about,)+
                }
            }

            /// Fields of the detail that the row repeats.
            #[must_use]
            pub const fn compared(self) -> &'static [&'static str] {
                match self {
                    $(Self::$event => &[$($($compared),+)?],)+
                }
            }

            /// Fields of the detail that are not compared with a row.
            #[must_use]
            pub const fn other(self) -> &'static [&'static str] {
                match self {
                    $(Self::$event => &[$($($other,)+)? $($($optional,)+)?],)+
                }
            }

            /// Fields that a writer may add to the detail.
            #[must_use]
            pub const fn added(self) -> &'static [&'static str] {
                match self {
                    $(Self::$event => &[$($($added),+)?],)+
                }
            }
        }
    };
}

pub(super) use audit_events;
