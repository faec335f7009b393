//! `tools call`.

use app::operation::AttendedTask;
use app::tools::{DirectRequest, read_arguments};
use app::{App, Code, Problem};
use host::ProcessEnvironment;

use super::Done;
use super::attend::{Attendance, attended};
use super::closing::closing;
use super::run::{afterwards, surface};
use crate::args::Tools;
use crate::show::Screen;

pub(crate) async fn tools(
    app: &App,
    screen: &Screen,
    surroundings: &ProcessEnvironment,
    attendance: impl FnOnce(bool) -> Attendance,
    command: Tools,
) -> Done {
    let Tools::Call { tool, args, json_args, yes, wait } = command;
    let attendance = attendance(wait);
    let gone = || Problem::new(Code::WORKSPACE, "the current folder is gone").safe("nothing was written");
    let workspace = surroundings.folder.clone().ok_or_else(gone)?;
    let request = DirectRequest {
        args: read_arguments(app, &tool, &args, json_args.as_deref()).await?,
        tool,
        confirmed: yes,
        workspace,
        surface: surface(screen, &attendance),
        wait: attendance.wait(),
    };
    let report =
        attended(app, screen, &attendance, AttendedTask::New, Box::pin(app.tools().call(request))).await?;
    afterwards(app).await;
    closing(app, screen, &attendance.live, &report)
}
