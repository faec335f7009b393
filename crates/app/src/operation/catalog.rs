//! All operations, and what one caller is offered of them.

use clap::ArgMatches;
use kernel::{Code, Problem};
use schemars::Schema;
use serde_json::Value;

use super::{
    AnyOutput, BoxedFuture, Operation, OperationCaller, OperationContext, OperationError, OperationSpec,
    Requirements,
};

/// One operation of the catalog.
#[derive(Debug)]
pub struct OperationEntry {
    pub spec: OperationSpec,
    arguments: fn(clap::Command) -> clap::Command,
    schema: fn() -> Schema,
    read_arguments: fn(&ArgMatches) -> Result<Box<dyn AnyCall>, clap::Error>,
    read_json: fn(Value) -> Result<Box<dyn AnyCall>, serde_json::Error>,
}

/// Operations of a feature that are listed together.
#[derive(Debug)]
pub struct OperationGroup {
    /// The first word of their commands; `None`: each is a command of one word.
    pub name: Option<&'static str>,
    pub about: &'static str,
    pub examples: &'static [&'static str],
    /// What the help of the group says after the examples.
    pub notes: &'static str,
    pub operations: &'static [OperationEntry],
}

impl OperationGroup {
    /// Commands that share their first word.
    #[must_use]
    pub const fn new(
        name: &'static str,
        about: &'static str,
        examples: &'static [&'static str],
        operations: &'static [OperationEntry],
    ) -> Self {
        Self { name: Some(name), about, examples, notes: "", operations }
    }

    /// Commands of one word.
    #[must_use]
    pub const fn of_one_word(operations: &'static [OperationEntry]) -> Self {
        Self { name: None, about: "", examples: &[], notes: "", operations }
    }

    #[must_use]
    pub const fn notes(self, notes: &'static str) -> Self {
        Self { notes, ..self }
    }
}

impl OperationEntry {
    #[must_use]
    pub const fn of<O: Operation>() -> Self {
        Self {
            spec: O::SPEC,
            arguments: |command| O::augment_args(command),
            schema: || schemars::schema_for!(O),
            read_arguments: |matches| Ok(Box::new(O::from_arg_matches(matches)?)),
            read_json: |value| Ok(Box::new(O::deserialize(value)?)),
        }
    }

    /// Its last word.
    #[must_use]
    pub fn verb(&self) -> &'static str {
        self.spec.name.rsplit(' ').next().unwrap_or(self.spec.name)
    }

    /// The command, with arguments and help.
    #[must_use]
    pub fn command(&self) -> clap::Command {
        let OperationSpec { examples, notes, .. } = self.spec;
        (self.arguments)(clap::Command::new(self.verb())).after_help(help_after(examples, notes))
    }

    /// Checks an input as if it were typed: what arguments may not be together, or need each other, holds for JSON too.
    fn check_json(&self, input: &Value) -> Result<(), String> {
        let (mut flags, mut positional) = (vec![self.verb().to_owned()], Vec::new());
        let command = self.command();
        for argument in command.get_arguments() {
            let values = match input.get(json_name(argument)) {
                None | Some(Value::Null | Value::Bool(false)) => continue,
                Some(Value::Array(values)) => values.iter().map(as_typed).collect(),
                Some(value) => vec![as_typed(value)],
            };
            match argument.get_long() {
                Some(long) if !argument.get_action().takes_values() => flags.push(format!("--{long}")),
                Some(long) => flags.extend(values.iter().map(|value| format!("--{long}={value}"))),
                None => positional.extend(values),
            }
        }
        flags.push("--".to_owned());
        let checked = command.try_get_matches_from(flags.into_iter().chain(positional));
        checked
            .map(drop)
            .map_err(|error| error.render().to_string().lines().next().unwrap_or_default().to_owned())
    }

    /// What its input looks like as JSON.
    #[must_use]
    pub fn input_schema(&self) -> Schema {
        (self.schema)()
    }
}

/// The name of an argument in JSON: that of its long flag, in `snake_case`.
#[must_use]
pub fn json_name(argument: &clap::Arg) -> String {
    argument.get_long().unwrap_or(argument.get_id().as_str()).replace('-', "_")
}

fn as_typed(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

/// The end of a help text: examples, then notes.
#[must_use]
pub fn help_after(examples: &[&str], notes: &str) -> String {
    let mut text = String::from("Example:");
    for example in examples {
        text.push_str("\n  ");
        text.push_str(example);
    }
    if !notes.is_empty() {
        text.push_str("\n\n");
        text.push_str(notes);
    }
    text
}

/// An operation with its input.
trait AnyCall: Send {
    fn requirements(&self) -> Requirements;

    fn run<'a>(
        self: Box<Self>,
        context: &'a OperationContext<'a>,
    ) -> BoxedFuture<'a, Result<Box<dyn AnyOutput>, OperationError>>;
}

impl<O: Operation> AnyCall for O {
    fn requirements(&self) -> Requirements {
        Operation::requirements(self)
    }

    fn run<'a>(
        self: Box<Self>,
        context: &'a OperationContext<'a>,
    ) -> BoxedFuture<'a, Result<Box<dyn AnyOutput>, OperationError>> {
        Box::pin(async move {
            let output = Operation::run(*self, context).await?;
            Ok(Box::new(output) as Box<dyn AnyOutput>)
        })
    }
}

/// The operations that one caller may use. There is no other way to an operation.
#[derive(Clone, Debug)]
pub struct Offer(OperationCaller);

impl Offer {
    #[must_use]
    pub const fn to(caller: OperationCaller) -> Self {
        Self(caller)
    }

    /// The groups, each with what is offered of it.
    pub fn groups(&self) -> impl Iterator<Item = (&'static OperationGroup, Vec<OfferedOperation>)> + use<'_> {
        crate::GROUPS
            .iter()
            .map(|group| (*group, self.offered(group)))
            .filter(|(_, offered)| !offered.is_empty())
    }

    fn offered(&self, group: &'static OperationGroup) -> Vec<OfferedOperation> {
        let may = |entry: &&OperationEntry| self.0.may_call(&entry.spec);
        group.operations.iter().filter(may).map(OfferedOperation).collect()
    }

    /// An operation by its name; `None` if there is none, or this caller may not use it.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<OfferedOperation> {
        self.groups().flat_map(|(_, offered)| offered).find(|offered| offered.entry().spec.name == name)
    }
}

/// An operation that its caller may use.
#[derive(Clone, Copy, Debug)]
pub struct OfferedOperation(&'static OperationEntry);

impl OfferedOperation {
    #[must_use]
    pub const fn entry(self) -> &'static OperationEntry {
        self.0
    }

    /// # Errors
    /// If the arguments are not those of the operation.
    pub fn read_arguments(self, matches: &ArgMatches) -> Result<PermittedCall, clap::Error> {
        Ok(PermittedCall { entry: self.0, call: (self.0.read_arguments)(matches)? })
    }

    /// # Errors
    /// If the value is not an input of the operation.
    pub fn read_json(self, input: Value) -> Result<PermittedCall, Problem> {
        let bad = |why: String| {
            Problem::new(Code::BAD_ARGUMENTS, format!("the input of `{}`: {why}", self.0.spec.name))
                .safe("nothing was done")
        };
        self.0.check_json(&input).map_err(bad)?;
        let call = (self.0.read_json)(input).map_err(|error| bad(error.to_string()))?;
        Ok(PermittedCall { entry: self.0, call })
    }
}

/// An operation with its input, from a caller that may use it.
pub struct PermittedCall {
    entry: &'static OperationEntry,
    call: Box<dyn AnyCall>,
}

impl std::fmt::Debug for PermittedCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PermittedCall").field("name", &self.entry.spec.name).finish_non_exhaustive()
    }
}

impl PermittedCall {
    #[must_use]
    pub const fn spec(&self) -> &'static OperationSpec {
        &self.entry.spec
    }

    #[must_use]
    pub fn requirements(&self) -> Requirements {
        self.call.requirements()
    }

    /// # Errors
    /// If the operation fails.
    #[tracing::instrument(level = "info", name = "operation", skip_all, fields(name = self.entry.spec.name))]
    pub async fn run(self, context: &OperationContext<'_>) -> Result<Box<dyn AnyOutput>, OperationError> {
        let output = self.call.run(context).await?;
        // The end of the span itself may come too late to be written: the database's thread holds on to it for a moment.
        tracing::info!("done");
        Ok(output)
    }
}
