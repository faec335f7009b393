//! `tools`.

use std::io::{self, Read as _};
use std::path::Path;

use app::operation::AttendedTask;
use app::tools::{DirectRequest, ToolLine, ToolView};
use app::{App, Code, Problem};
use broker::access::Switch;
use domain::limits::LINE_BYTES;
use host::ProcessEnvironment;
use serde_json::{Map, Value};

use super::Done;
use super::attend::{Attendance, attended};
use super::closing::closing;
use super::run::{afterwards, surface};
use crate::args::Tools;
use crate::show::{Screen, Tone, brief, inline};

/// A call as it was typed.
#[derive(Debug)]
struct Given {
    tool: String,
    args: Vec<String>,
    json_args: Option<String>,
    yes: bool,
}

pub(crate) async fn tools(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    attendance: impl FnOnce(bool) -> Attendance,
    command: Tools,
) -> Done {
    match command {
        Tools::List => list(app, screen).await,
        Tools::Show { tool } => {
            let view = app.tools().show(&tool).await?;
            if screen.json {
                screen.json_line(&view)?
            } else {
                screen.line(&page(screen, &view))?
            }
            Ok(0)
        }
        Tools::Enable { tool } => shown(screen, &app.tools().switch(&tool, true).await?),
        Tools::Disable { tool } => shown(screen, &app.tools().switch(&tool, false).await?),
        Tools::Level { tool, level } => shown(screen, &app.tools().set_level(&tool, level).await?),
        Tools::Add { file } => shown(screen, &app.tools().register(&registration(&file)?).await?),
        Tools::Remove { tool } => {
            let id = app.tools().remove(&tool).await?;
            if screen.json {
                screen.json_line(&serde_json::json!({ "removed": id }))?;
            } else {
                screen.note(&format!("{id} is not registered any more; its calls stay on record"));
            }
            Ok(0)
        }
        Tools::Call { tool, args, json_args, yes, wait } => {
            let attendance = attendance(wait);
            call(app, screen, surroundings, &attendance, Given { tool, args, json_args, yes }).await
        }
    }
}

async fn list(app: &App, screen: &Screen) -> Done {
    let (lines, mistakes) = app.tools().list().await?;
    for line in &lines {
        if screen.json { screen.json_line(line)? } else { screen.line(&row(screen, line))? }
    }
    for mistake in mistakes.into_iter().chain(app.instance().unknown_switches(&lines)) {
        screen.note(&format!("! {}", inline(&mistake)));
    }
    Ok(0)
}

fn row(screen: &Screen, line: &ToolLine) -> String {
    let state = match line.switch {
        Switch::On => screen.tinted("on ", Tone::Good),
        Switch::Off | Switch::OffByEnvironment | Switch::Unreadable => screen.tinted("off", Tone::Attention),
    };
    format!(
        "{state}  {:<16} {:<18} level {}  {}",
        brief(line.tool.as_str(), 32),
        line.tier.name(),
        line.level,
        brief(&line.description, 64)
    )
}

fn shown(screen: &Screen, line: &ToolLine) -> Done {
    if screen.json {
        screen.json_line(line)?
    } else {
        screen.line(&row(screen, line))?
    }
    Ok(0)
}

fn page(screen: &Screen, view: &ToolView) -> String {
    let ToolView { spec, risk_level, switch, shipped, aliases, alignment_score_90d } = view;
    let list = |items: &[String]| {
        if items.is_empty() { "none".to_owned() } else { inline(&items.join(", ")) }
    };
    let on = match switch {
        Switch::On => "on",
        Switch::Off => "off (tool-access.json)",
        Switch::OffByEnvironment => "off (REGENT_TOOLS_OFF)",
        Switch::Unreadable => "off: tool-access.json cannot be read",
    };
    let score = alignment_score_90d.map_or_else(|| "none yet".to_owned(), |score| format!("{score:.2}"));
    let again = if spec.may_run_again() { "may run again after a crash" } else { "never runs twice" };
    let ships = if *shipped { ", ships with the program" } else { "" };
    let mut lines = vec![
        screen.tinted(spec.id.as_str(), Tone::Command),
        format!("  {}", inline(&spec.description)),
        format!("  switch       {on}"),
        format!("  tier         {} (risk level {})", spec.tier, risk_level.name()),
        format!("  mode         {}, validation {}", spec.execution_mode.name(), spec.validation_mode.name()),
        format!("  level        {} of 4, alignment over 90 days {score}", spec.level as u8),
        format!("  category     {}", spec.category.name()),
        format!("  data class   {}", spec.data_class.map_or("none", broker::DataClass::name)),
        format!("  reaches      {}", spec.reach.name()),
        format!("  agents       {}", list(&spec.agent_access)),
        format!("  roles        {}", list(&spec.role_requirements)),
        format!("  sinks        {}", list(&spec.sinks)),
        format!("  crash        {again}"),
        format!("  at most      {:?}, {} bytes of result", spec.timeout, spec.output_bytes),
        format!("  behind it    {}{ships}", spec.handler_type.name()),
    ];
    if !aliases.is_empty() {
        lines.push(format!("  also called  {}", aliases.join(", ")));
    }
    if !spec.handler_config.is_null() {
        lines.push(format!("  configured   {}", inline(&spec.handler_config.to_string())));
    }
    lines.push(format!("takes\n{}", fields(&spec.input_schema)));
    if let Some(schema) = &spec.output_schema {
        lines.push(format!("gives\n{}", fields(schema)));
    }
    lines.join("\n")
}

/// The fields of a schema, one per line; `--json` has it whole.
fn fields(schema: &Value) -> String {
    let required = schema.get("required").and_then(Value::as_array);
    let needed = |name: &str| required.is_some_and(|all| all.iter().any(|one| one == name));
    let properties = schema.get("properties").and_then(Value::as_object);
    let line = |(name, field): (&String, &Value)| {
        let about = field.get("description").and_then(Value::as_str).unwrap_or_default();
        let name = if needed(name) { name.clone() } else { format!("[{name}]") };
        format!("  {:<14} {:<10} {}", inline(&name), kind(field), brief(about, 90))
    };
    let lines: Vec<String> = properties.into_iter().flatten().map(line).collect();
    if lines.is_empty() { "  anything: see `--json`".into() } else { lines.join("\n") }
}

fn kind(field: &Value) -> String {
    match field.get("type") {
        Some(Value::String(kind)) => inline(kind),
        Some(Value::Array(kinds)) => {
            let kinds = kinds.iter().filter_map(Value::as_str).filter(|kind| *kind != "null");
            kinds.map(inline).collect::<Vec<_>>().join(" or ")
        }
        _ if field.get("enum").is_some() || field.get("oneOf").is_some() => "choice".into(),
        _ => "any".into(),
    }
}

fn registration(file: &str) -> Result<String, Problem> {
    let unreadable = |why: String| {
        Problem::new(Code::INPUT, format!("`{file}` cannot be read: {why}")).safe("nothing was registered")
    };
    if file != "-" {
        let text = host::read_named_text(Path::new(file)).map_err(|error| unreadable(error.to_string()))?;
        return text.ok_or_else(|| unreadable("it is not there".into()));
    }
    let mut text = String::new();
    let read = io::stdin().lock().take(LINE_BYTES as u64 + 1).read_to_string(&mut text);
    read.map_err(|error| unreadable(error.to_string()))?;
    if text.len() > LINE_BYTES {
        Err(unreadable(format!("it has more than {LINE_BYTES} bytes")))
    } else {
        Ok(text)
    }
}

/// `path=a.txt`, each read as the tool's schema has it, or one JSON object.
pub(super) async fn arguments(
    app: &App,
    tool: &str,
    given: &[String],
    whole: Option<&str>,
) -> Result<Value, Problem> {
    let bad = |why: String| {
        Problem::new(Code::BAD_ARGUMENTS, why)
            .safe("nothing was done")
            .remedy(format!("regent tools show {tool}"))
    };
    if let Some(text) = whole {
        let unreadable = |error: serde_json::Error| match error.classify() {
            serde_json::error::Category::Data => bad(format!("--args: {}", domain::json::reason(&error))),
            _ => bad(format!("--args is no JSON: {error}")),
        };
        let value: Value = domain::json::from_str(text).map_err(unreadable)?;
        return if value.is_object() { Ok(value) } else { Err(bad("--args is no JSON object".into())) };
    }
    let schema = app.tools().show(tool).await?.spec.input_schema;
    let mut args = Map::new();
    for pair in given {
        let (name, value) =
            pair.split_once('=').ok_or_else(|| bad(format!("`{pair}` is not of the form name=value")))?;
        let field = schema.pointer(&format!("/properties/{}", name.replace('~', "~0").replace('/', "~1")));
        let value = match field.map(kind).as_deref() {
            Some("array") if !value.starts_with('[') => listed(value),
            // Whatever is no text is written as JSON; what does not read as such is left to the schema to refuse.
            Some(kind) if kind != "string" && kind != "choice" => {
                domain::json::from_str(value).unwrap_or_else(|_| Value::from(value))
            }
            _ => Value::from(value),
        };
        if args.insert(name.to_owned(), value).is_some() {
            return Err(bad(format!("`{name}` is given twice")));
        }
    }
    Ok(Value::Object(args))
}

/// A list without the brackets: `rs,toml`.
fn listed(value: &str) -> Value {
    value.split(',').filter(|_| !value.is_empty()).map(Value::from).collect()
}

async fn call(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    attendance: &Attendance,
    given: Given,
) -> Done {
    let gone = || Problem::new(Code::WORKSPACE, "the current folder is gone").safe("nothing was written");
    let workspace = surroundings.folder.clone().ok_or_else(gone)?;
    let Given { tool, args, json_args, yes } = given;
    let request = DirectRequest {
        args: arguments(app, &tool, &args, json_args.as_deref()).await?,
        tool,
        confirmed: yes,
        workspace,
        surface: surface(screen, attendance),
        wait: attendance.wait(),
    };
    let report =
        attended(app, screen, attendance, AttendedTask::New, Box::pin(app.tools().call(request))).await?;
    afterwards(app).await;
    closing(app, screen, &attendance.live, &report)
}
