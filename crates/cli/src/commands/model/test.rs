//! `model test`: what each model can do.

use app::App;
use domain::ask::Usage;
use host::model_selection::{ModelSelection, ModelTest, check_tests, test_model};
use serde_json::json;

use super::{Done, ScreenReporter, amount};
use crate::show::{Screen, Tone, brief, inline};

pub(super) async fn test(app: &App, screen: &Screen, selection: &ModelSelection, who: Option<&str>) -> Done {
    let budget = app.settings().get("budget.day.money");
    let mut tests = Vec::new();
    for endpoint in selection.prepare_tests(who, budget, &ScreenReporter(screen.clone())).await? {
        let test = test_model(endpoint, || app.now()).await?;
        show(screen, &test)?;
        tests.push(test);
    }
    check_tests(&tests)?;
    Ok(0)
}

fn show(screen: &Screen, ModelTest { model: name, host, outcome: tried }: &ModelTest) -> std::io::Result<()> {
    if screen.json {
        return screen.json_line(&match tried {
            Ok(tried) => json!({
                "model": name, "host": host, "answers": true, "text": tried.text, "json": tried.json, "call": tried.call,
                "took_ms": tried.took_ms, "tokens_in": tried.usage.tokens_in, "cached": tried.usage.cached,
                "tokens_out": tried.usage.tokens_out, "price": tried.usage.price,
            }),
            Err(why) => json!({ "model": name, "host": host, "answers": false, "why": why.why, "kind": why.kind }),
        });
    }
    let name = inline(name);
    let tried = match tried {
        Ok(tried) => tried,
        Err(why) => {
            let word = screen.tinted("no answer", Tone::Bad);
            return screen.line(&format!("{name}   {word}: {}", inline(&why.why)));
        }
    };
    let able = |what: &str, can: bool| {
        let (word, tone) = if can { ("yes", Tone::Good) } else { ("NO", Tone::Bad) };
        format!("{what} {}", screen.tinted(word, tone))
    };
    let Usage { tokens_in, cached, tokens_out, price, .. } = tried.usage;
    screen.line(&format!(
        "{name}   {}, {}, {}",
        able("text", tried.text),
        able("json", tried.json),
        able("call", tried.call)
    ))?;
    screen.line(&format!(
        "  {} ms for two asks at {}; {tokens_in} tokens in ({cached} kept), {tokens_out} out; cost {}",
        tried.took_ms,
        inline(host),
        amount(price)
    ))?;
    if tried.text && !tried.json {
        screen.line(&format!("  it said: {}", brief(&tried.reply, 60)))?;
    }
    Ok(())
}
