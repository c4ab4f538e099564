//! As much of a reader of SVG as drawings need: elements in elements, with their attributes and texts.

/// An element.
#[derive(Debug, Default)]
pub struct Element {
    /// What stands between its brackets: `g class="in" ..`.
    tag: String,
    /// The text directly in it.
    pub text: String,
    pub children: Vec<Element>,
}

impl Element {
    /// The outermost element of a text. Panics where tags are not closed in the order in which they were opened.
    pub fn read(svg: &str) -> Element {
        let mut open = vec![Element::default()];
        for piece in svg.split('<').skip(1) {
            let (tag, text) = piece.split_once('>').expect("a tag that ends");
            match tag.strip_prefix('/') {
                Some(name) => {
                    let done = open.pop().expect("opened");
                    assert_eq!(done.name(), name, "closed");
                    open.last_mut().expect("the text itself").children.push(done);
                }
                None => open.push(Element { tag: tag.trim_end_matches('/').to_string(), ..Element::default() }),
            }
            if tag.ends_with('/') && !tag.starts_with('/') {
                let done = open.pop().expect("just opened");
                open.last_mut().expect("the text itself").children.push(done);
            }
            open.last_mut().expect("the text itself").text.push_str(&plain(text));
        }
        assert_eq!(open.len(), 1, "something is never closed");
        open.remove(0).children.remove(0)
    }

    pub fn name(&self) -> &str {
        self.tag.split([' ', '\n']).next().unwrap_or_default()
    }

    pub fn attribute(&self, name: &str) -> Option<&str> {
        self.tag.split_once(&format!(" {name}=\""))?.1.split('"').next()
    }

    /// Whether this is one of its classes.
    pub fn is(&self, class: &str) -> bool {
        self.attribute("class").is_some_and(|classes| classes.split(' ').any(|one| one == class))
    }

    pub fn number(&self, name: &str) -> f64 {
        let text = self.attribute(name).unwrap_or_else(|| panic!("`{}` has no {name}", self.tag));
        text.parse().unwrap_or_else(|_| panic!("{name} of `{}` is no number", self.tag))
    }

    /// How far it is moved: right and down.
    pub fn moved(&self) -> (f64, f64) {
        let text = self.attribute("transform").unwrap_or_else(|| panic!("`{}` has no place", self.tag));
        let numbers = numbers(text.trim_start_matches("translate(").trim_end_matches(')'));
        (numbers[0], numbers[1])
    }

    /// The first child of these.
    pub fn child(&self, is: impl Fn(&Element) -> bool) -> Option<&Element> {
        self.children.iter().find(|child| is(child))
    }
}

/// Numbers with spaces between them.
pub fn numbers(text: &str) -> Vec<f64> {
    text.split(' ').map(|number| number.parse().unwrap_or_else(|_| panic!("`{number}` in `{text}`"))).collect()
}

fn plain(text: &str) -> String {
    let marks = [("&lt;", "<"), ("&gt;", ">"), ("&quot;", "\""), ("&#39;", "'"), ("&amp;", "&")];
    marks.iter().fold(text.to_string(), |text, (mark, character)| text.replace(mark, character))
}
