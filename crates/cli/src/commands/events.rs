//! `events`.

use app::App;

use super::{Done, lines};
use crate::args::Events;
use crate::show::{Screen, brief};

pub(crate) async fn events(app: &App, screen: &Screen, command: Events) -> Done {
    match command {
        Events::Ingest => ingest(app, screen).await,
        Events::Watermarks => {
            for line in app.events().watermarks().await? {
                if screen.json {
                    screen.json_line(&line)?;
                    continue;
                }
                let when = line.at.date_time(app.zone());
                let position = brief(&line.position, 40);
                screen.line(&format!("{:<14} {:<14} {position:<40} {when}", line.adapter, line.account))?;
            }
            Ok(0)
        }
        Events::List { limit } => {
            for line in app.events().list(limit).await? {
                if screen.json {
                    screen.json_line(&line)?;
                    continue;
                }
                let when = line.received_at.date_time(app.zone());
                let (sender, content) = (
                    line.sender.unwrap_or_else(|| "(erased)".into()),
                    line.content.unwrap_or_else(|| "(erased)".into()),
                );
                let direction = line.direction.to_string();
                let row = format!(
                    "{:<8} {direction:<3} {:<10} {:<14} {:<40} {when}",
                    line.short,
                    brief(&line.platform, 10),
                    brief(&sender, 14),
                    brief(&content, 40)
                );
                screen.line(&row)?;
            }
            Ok(0)
        }
    }
}

/// Each line is answered only once its event is durable.
async fn ingest(app: &App, screen: &Screen) -> Done {
    let take_in = async |line: String| Ok(app.events().ingest(&line).await?.map_err(|bad| bad.to_string()));
    lines::answer_each(screen, "all other lines were taken in", take_in).await
}
