use super::{Origin, Source, load};

#[test]
fn explore() {
    let files = std::fs::read_dir("/tmp/acl-explore").unwrap();
    for f in files {
        let p = f.unwrap().path();
        let text = std::fs::read_to_string(&p).unwrap();
        println!("== {}", p.display());
        let t = std::time::Instant::now();
        match load(&[Source { file: "p.yaml", text: &text, origin: Origin::Own }]) {
            Ok(l) => {
                println!("OK {} policies", l.set.iter().count());
                for n in l.notes {
                    println!("note {n}");
                }
            }
            Err(m) => println!("{m}"),
        }
        println!("{:?}", t.elapsed());
    }
}
#[test]
fn shipped() {
    match crate::acl::shipped::defaults() {
        Ok(l) => {
            for n in l.notes {
                println!("{n}")
            }
        }
        Err(m) => panic!("{m}"),
    }
}
