//! Agents as a tree: each below who started it, in the order they were started in.

use std::collections::HashMap;

use vocab::ids::AgentId;

/// The agents in the order of the tree, each with its depth. `link` tells an agent's id and who
/// started it. Whose parent is not there, or stands below itself, stands at the top.
pub(crate) fn rows<T>(
    agents: Vec<T>,
    link: impl Fn(&T) -> (AgentId, Option<AgentId>),
) -> Vec<(usize, T)> {
    let links: Vec<_> = agents.iter().map(link).collect();
    let places: HashMap<&AgentId, usize> = links
        .iter()
        .enumerate()
        .map(|(place, (id, _))| (id, place))
        .collect();
    let mut children: Vec<Vec<usize>> = vec![Vec::new(); agents.len()];
    let mut tops = Vec::new();
    for (place, (_, parent)) in links.iter().enumerate() {
        match parent.as_ref().and_then(|parent| places.get(parent)) {
            // A parent is told of before its children; anything else is a damaged stream.
            Some(above) if *above < place => children[*above].push(place),
            _ => tops.push(place),
        }
    }
    let mut order = Vec::with_capacity(agents.len());
    let mut open: Vec<(usize, usize)> = tops.iter().rev().map(|top| (0, *top)).collect();
    while let Some((depth, place)) = open.pop() {
        order.push((depth, place));
        open.extend(
            children[place]
                .iter()
                .rev()
                .map(|child| (depth + 1, *child)),
        );
    }
    let mut agents: Vec<Option<T>> = agents.into_iter().map(Some).collect();
    let taken = |(depth, place): (usize, usize)| Some((depth, agents[place].take()?));
    order.into_iter().filter_map(taken).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn shown(links: &[(&str, &str)]) -> Vec<(usize, String)> {
        let parent = |parent: &str| (!parent.is_empty()).then(|| parent.into());
        rows(links.to_vec(), |(id, above)| ((*id).into(), parent(above)))
            .into_iter()
            .map(|(depth, (id, _))| (depth, id.to_owned()))
            .collect()
    }

    #[test]
    fn each_stands_below_who_started_it() {
        let links = [
            ("root", ""),
            ("a", "root"),
            ("b", "root"),
            ("c", "a"),
            ("x", "gone"),
        ];
        let expected = [(0, "root"), (1, "a"), (2, "c"), (1, "b"), (0, "x")];
        assert_eq!(shown(&links), expected.map(|(n, id)| (n, id.to_owned())));
    }

    proptest! {
        #[test]
        fn nobody_is_lost_whatever_the_links(parents in proptest::collection::vec(0_usize..30, 0..30)) {
            let agents: Vec<(usize, usize)> = parents.into_iter().enumerate().collect();
            let id = |n: usize| AgentId::from(n.to_string());
            let rows = rows(agents.clone(), |(own, above)| (id(*own), Some(id(*above))));
            let mut found: Vec<_> = rows.iter().map(|(_, agent)| *agent).collect();
            found.sort_unstable();
            prop_assert_eq!(found, agents);
        }
    }
}
