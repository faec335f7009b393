//! `authorize`: what the broker would say, as a filter. It needs no house and writes nothing.

use broker::episode::Episode;

use super::{Done, lines};
use crate::show::Screen;

pub(crate) async fn authorize(screen: &Screen) -> Done {
    let play =
        async |line: String| Ok(Episode::read(&line).and_then(Episode::play).map_err(|bad| bad.to_string()));
    lines::answer_each(screen, "all other lines were answered, and nothing was written", play).await
}
