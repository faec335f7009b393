//! `ggs step`: the solver as a filter. It needs no house and writes nothing.

use domain::gradient::Params;
use engine::ggs::filter::Filter;

use super::{Done, lines};
use crate::show::Screen;

pub(crate) async fn step(screen: &Screen) -> Done {
    let mut filter = Filter::new(Params::default());
    let answer = async |line: String| Ok(filter.answer(&line).map_err(|bad| bad.to_string()));
    lines::answer_each(screen, "all other lines were answered, and nothing was written", answer).await
}
