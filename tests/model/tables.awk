# SPDX-License-Identifier: BSL-1.0
# awk -f tables.awk config.hpp DOC OUTPUT...: prints DOC with its tables made anew from what the model tests
# printed (OUTPUT: one file for each program, by its name). Exit code 1 with a word on stderr when the kill matrix is
# not complete: an order or a step that no twin weakens, a twin that survives, a test that must pass and does not.

function complain(what) { print "kill matrix: " what > "/dev/stderr"; bad = 1 }

# The orders one step weaker, given what the access does.
function weaker(access, order) {
    if (order == "seq_cst") return access ~ /_swap$/ ? "acq_rel" : access ~ /_store$/ ? "release" : "acquire"
    if (order == "acq_rel") return "acquire release"
    return order == "relaxed" ? "" : "relaxed"
}

FNR == 1 { file++; program = FILENAME; sub(/.*\//, "", program); sub(/\..*/, "", program) }

file == 1 && /^struct .*_orders/ { rows_of = /walk_orders \{/ ? "words" : "expiries" }
file == 1 && /static constexpr auto [a-z_]+ = B::/ {
    access = $4; order = $6; sub(/.*::/, "", order); sub(/;/, "", order)
    label = $0; sub(/.*\/\/ \(/, "", label); sub(/\).*/, "", label)
    if (access ~ /_retry$/) retry[access] = order
    labels[label] = 1
    rows[++orders] = label "|" access "|" order "|" rows_of
}
file == 1 && /^struct algorithm_steps/ { in_steps = 1 }
file == 1 && in_steps && /static constexpr (bool|int) / { steps[++step_count] = $4 }
file == 1 && in_steps && /^};/ { in_steps = 0 }

file == 2 { document[++lines] = $0 }

file > 2 && /^SURPRISE/ { complain($0) }
file > 2 && /^ok/ {
    line = $0; sub(/^ok +/, "", line)
    lack = ""
    if (match(line, / executions, .*/)) { lack = substr(line, RSTART + 13); line = substr(line, 1, RSTART + 10) }
    name = line; sub(/: [A-Z ]+ after [0-9]+ executions$/, "", name)
    result = line; sub(/ after [0-9]+ executions$/, "", result); sub(/.*: /, "", result)
    count = line; sub(/ executions$/, "", count); sub(/.* after /, "", count)
    if (lack == "") {
        if (result != "SUCCESS") complain(line)
        if (name ~ /weaker_than_the_rule/) by_rule++
        schedules += count; positive++
        sound[program] = sound[program] "| `" name "` | " (name ~ /all schedules/ ? "all" : "at random") " | " count " |\n"
        next
    }
    failure = result == "USER ASSERT FAILED" ? "assertion" : result == "USER INVARIANT FAILED" ? "invariant" : \
              result == "DATA RACE" ? "data race" : \
              result == "ACCESS TO UNINITIALIZED VARIABLE" ? "uninitialised" : "?"
    if (failure == "?") complain("survivor: " line)
    twins++
    fails = " `" name "` | " failure " | " count " |\n"
    if (lack ~ / to /) { split(lack, w, " "); killed[w[1] " " w[2] " " w[4]] = killed[w[1] " " w[2] " " w[4]] fails; names[w[1]] = 1 }
    else { sub(/^without /, "", lack); dropped[lack] = dropped[lack] fails; if (!(lack in known)) { known[lack] = 1; order_of_steps[++dropped_count] = lack } }
}

function cells(text, front,   part, n, i, out) {
    n = split(text, part, "\n"); out = ""
    for (i = 1; i < n; i++) out = out front part[i] "\n"
    return out
}

END {
    matrix = "| label | access | weakened | fails | by | after |\n| --- | --- | --- | --- | --- | --- |\n"
    for (i = 1; i <= orders; i++) {
        split(rows[i], r, "|")
        front = "| " r[1] " | `" r[2] "` | "
        if (r[3] == "relaxed") {
            matrix = matrix front "relaxed: nothing is weaker | | | |\n"
            continue
        }
        n = split(weaker(r[2], r[3]), w, " ")
        for (k = 1; k <= n; k++) {
            mutants++
            key = r[2] " " r[3] " " w[k]
            failure_order = r[2]; sub(/_swap$/, "_retry", failure_order)
            if (key in killed) {
                matrix = matrix cells(killed[key], front r[3] " to " w[k] " |"); used[key] = 1
            } else if (w[k] == "release" && retry[failure_order] == "acquire" && by_rule > 0) {
                mutants--; ruled++
                matrix = matrix front r[3] " to " w[k] " | nothing, see \"What could be lowered\" | | |\n"
            } else complain("nobody weakens " r[2] " from " r[3] " to " w[k] " (" r[4] ")")
        }
    }
    for (key in killed) if (!(key in used)) { split(key, w, " ")
        for (i = 1; i <= orders; i++) { split(rows[i], r, "|"); if (r[2] == w[1] && r[3] == w[2]) label = r[1] }
        extra[++extras] = cells(killed[key], "| " label " | `" w[1] "` | " w[2] " to " w[3] " |") }
    for (i = 1; i <= extras; i++) for (k = i + 1; k <= extras; k++) if (extra[k] < extra[i]) { t = extra[i]; extra[i] = extra[k]; extra[k] = t }
    for (i = 1; i <= extras; i++) matrix = matrix extra[i]
    for (i = 1; i <= step_count; i++) if (!(steps[i] in dropped)) complain("nobody leaves out " steps[i])
    mechanisms = "| without | fails | by | after |\n| --- | --- | --- | --- |\n"
    for (i = 1; i <= dropped_count; i++) mechanisms = mechanisms cells(dropped[order_of_steps[i]], "| " (order_of_steps[i] ~ / |^(seq|tag)$/ ? order_of_steps[i] : "`" order_of_steps[i] "`") " |")
    for (l in labels) label_count++
    summary = label_count " labels on " orders " orders; every order that is more than relaxed is weakened by one step in every way: " \
        mutants " mutants, 0 survivors, " ruled " kept by a rule. " dropped_count " mechanisms taken out, 0 survivors. " \
        positive " runs that must pass, 0 failures, " schedules " schedules in all. " twins " runs that must fail.\n"
    for (i = 1; i <= lines; i++) {
        print document[i]
        if (document[i] !~ /^<!-- model: [a-z]+ -->$/) continue
        block = document[i]; sub(/^<!-- model: /, "", block); sub(/ -->$/, "", block)
        print ""
        if (block == "summary") printf "%s", summary
        else if (block == "orders") printf "%s", matrix
        else if (block == "steps") printf "%s", mechanisms
        else printf "%s", "| test | searched | schedules |\n| --- | --- | --- |\n" sound[block]
        print ""
        while (i < lines && document[i + 1] != "<!-- end -->") i++
    }
    exit bad
}
