#!/usr/bin/env python3
"""Compares the results of generated queries with jq's.

usage: queries.py PREFS [COUNT [SEED]]

Each query is generated in both languages, and selects from the same records: half of the queries from JSON, half from
the same file as a binary property list. Prints the seed, the queries with different results, and how many were equal.
"""

import json
import os
import random
import subprocess
import sys
import tempfile

WORDS = ["alpha", "Beta", "gamma delta", "ALPHA", "a.b*c", "be", "", "x-ray", "alphabet", "42"]

# Definitions for jq, so that a comparison of values of different types is false.
PRELUDE = """
def lt($a; $b): ($a|type) == ($b|type) and ($a != null) and $a < $b;
def le($a; $b): ($a|type) == ($b|type) and $a <= $b;
def text(f): type == "string" and f;
def calc($a; $b; f): if ($a|type) == "number" and ($b|type) == "number" then ([$a, $b]|f) else null end;
"""


class Generator:
    def __init__(self, seed):
        self.random = random.Random(seed)

    def record(self, number):
        pick = self.random
        record = {
            "id": number, "r": pick.randint(-40, 40) / 4, "s": pick.choice(WORDS), "b": pick.random() < 0.5,
            "t": [pick.choice(WORDS) for _ in range(pick.randint(0, 3))],
            "l": [pick.randint(-3, 9) for _ in range(pick.randint(0, 4))],
            "m": pick.choice([pick.randint(-9, 9), pick.choice(WORDS), None]),
        }
        if pick.random() < 0.8:
            # jq calculates with reals. Sums and most products of this number are exact there, too.
            record["n"] = pick.choice([None, pick.randint(-9, 9), (1 << 45) - 1])
        if pick.random() < 0.7:
            record["o"] = {"x": pick.randint(0, 5), "y": pick.choice(WORDS)}
        return record

    # An expression is a pair: a predicate's and jq's.

    def number(self, depth=1):
        pick = self.random.random()
        if depth and pick < 0.3:
            sign = self.random.choice("+-*")
            left, right = self.number(depth - 1), self.number(depth - 1)
            return f"({left[0]} {sign} {right[0]})", f"calc({left[1]}; {right[1]}; .[0] {sign} .[1])"
        if pick < 0.5:
            value = self.random.choice([self.random.randint(0, 9), self.random.randint(0, 36) / 4])
            return str(value), f"({value})"
        return self.random.choice([
            ("n", ".n"), ("r", ".r"), ("id", ".id"), ("o.x", ".o.x"), (":o:x", ".o.x"), ("l[0]", ".l[0]"),
            ("l[LAST]", ".l[-1]"), ("t.@count", "(.t|length)"), ("l.@sum", "(.l|add // 0)"), ("l.@max", "(.l|max)"),
            ("missing", ".missing"), ("m", ".m"), ("SELF.n", ".n"), ("#n", ".n"),
        ])

    def text(self):
        if self.random.random() < 0.4:
            word = self.random.choice(WORDS)
            return json.dumps(word), f"({json.dumps(word)})"
        return self.random.choice([("s", ".s"), ("o.y", ".o.y"), ("t[0]", ".t[0]"), ("m", ".m"), ("missing", ".missing")])

    def literal(self):
        if self.random.random() < 0.5:
            value = self.random.randint(-3, 9)
            return str(value), f"({value})"
        word = self.random.choice(WORDS)
        return json.dumps(word), f"({json.dumps(word)})"

    def ordered(self, left, right):
        sign = self.random.choice(["==", "=", "!=", "<>", "<", "<=", "=<", ">", ">=", "=>"])
        (p, a), (q, b) = left, right
        said = {
            "==": f"({a}) == ({b})", "!=": f"({a}) != ({b})", "<": f"lt({a}; {b})", "<=": f"le({a}; {b})",
            ">": f"lt({b}; {a})", ">=": f"le({b}; {a})",
        }[{"=": "==", "<>": "!=", "=<": "<=", "=>": ">="}.get(sign, sign)]
        return f"{p} {sign} {q}", said

    def searched(self):
        left, word = self.text(), self.random.choice(WORDS)
        folds = self.random.random() < 0.3
        modifier = "[c]" if folds else ""
        down = "ascii_downcase | " if folds else ""
        target = json.dumps(word.lower() if folds else word)
        kind = self.random.choice(["BEGINSWITH", "ENDSWITH", "CONTAINS", "IN", "LIKE", "MATCHES", "=="])
        if kind == "IN":
            return f"{json.dumps(word)} IN{modifier} {left[0]}", f"({left[1]} | text({down}contains({target})))"
        if kind == "LIKE":
            word = self.random.choice(["*", "al*", "*a", "?eta", "*a*b*", "a*\\*c", "", "*?*", "g*d?lta"])
            pattern = "".join(
                {"*": "(.|\\n)*", "?": "(.|\\n)"}.get(part, "\\" + part[-1] if part[-1] in "*.?" else part)
                for part in self.pieces(word))
            said = f"test({json.dumps('^(' + pattern + ')$')}; {json.dumps('i' if folds else '')})"
            return f"{left[0]} LIKE{modifier} {json.dumps(word)}", f"({left[1]} | text({said}))"
        if kind == "MATCHES":
            pattern = self.random.choice(["[a-z]+", "a.*", "(al|be)\\w*", "\\d+", ".{2,5}", "[^a]*", "", "x-?ray|be"])
            said = f"test({json.dumps('^(' + pattern + ')$')}; {json.dumps('i' if folds else '')})"
            return f"{left[0]} MATCHES{modifier} {json.dumps(pattern)}", f"({left[1]} | text({said}))"
        if kind == "==":
            if left[1] != ".s":
                left = ("s", ".s")
            return f"{left[0]} =={modifier} {json.dumps(word)}", f"({left[1]} | {down}. == {target})"
        name = {"BEGINSWITH": "startswith", "ENDSWITH": "endswith", "CONTAINS": "contains"}[kind]
        return f"{left[0]} {kind}{modifier} {json.dumps(word)}", f"({left[1]} | text({down}{name}({target})))"

    @staticmethod
    def pieces(word):
        at = 0
        while at < len(word):
            size = 2 if word[at] == "\\" else 1
            yield word[at:at + size]
            at += size

    def collected(self):
        quantifier = self.random.choice(["ANY", "SOME", "ALL", "NONE"])
        field, item = self.random.choice([("t", self.text()), ("l", self.number(0))])
        comparison = self.ordered((field, "$e"), item)
        name = {"ANY": "any", "SOME": "any", "ALL": "all", "NONE": "any"}[quantifier]
        inner = f"(. as $r | {name}(.{field}[]; . as $e | $r | {comparison[1]}))"
        return f"{quantifier} {comparison[0]}", f"({inner} | not)" if quantifier == "NONE" else inner

    def member(self):
        values = [self.literal() for _ in range(self.random.randint(0, 4))]
        braces = "{" + ", ".join(value[0] for value in values) + "}"
        listed = "[" + ", ".join(value[1] for value in values) + "]"
        if self.random.random() < 0.4:
            value = self.literal()
            return f"t CONTAINS {value[0]}", f"(. as $r | any(.t[]; . == ($r | {value[1]})))"
        left = self.random.choice([self.number(), self.text()])
        return f"{left[0]} IN {braces}", f"(({left[1]}) as $v | any({listed}[]; . == $v))"

    def between(self):
        left, low, high = self.number(), self.number(0), self.number(0)
        said = f"(le({low[1]}; {left[1]}) and le({left[1]}; {high[1]}) and ({left[1]}) != null)"
        return f"{left[0]} BETWEEN {{{low[0]}, {high[0]}}}", said

    def comparison(self):
        pick = self.random.random()
        if pick < 0.3:
            return self.ordered(self.number(), self.number())
        if pick < 0.4:
            return self.ordered(self.text(), self.text())
        if pick < 0.5:
            left = self.random.choice([self.number(0), self.text()])
            return self.random.choice([(f"{left[0]} == NULL", f"({left[1]}) == null"),
                                       (f"{left[0]} != nil", f"({left[1]}) != null")])
        if pick < 0.55:
            return self.random.choice([("b == YES", ".b == true"), ("b != TRUE", ".b != true"), ("b = NO", ".b == false")])
        if pick < 0.7:
            return self.searched()
        if pick < 0.8:
            return self.collected()
        if pick < 0.9:
            return self.member()
        return self.between()

    def predicate(self, depth=2):
        pick = self.random.random()
        if depth == 0 or pick < 0.4:
            return self.comparison()
        if pick < 0.55:
            inner = self.predicate(depth - 1)
            return f"{self.random.choice(['NOT ', '!'])}({inner[0]})", f"(({inner[1]}) | not)"
        word = self.random.choice(["AND", "OR", "&&", "||", "and", "or"])
        name = {"&&": "and", "||": "or"}.get(word, word.lower())
        parts = [self.predicate(depth - 1) for _ in range(self.random.randint(2, 3))]
        return (f" {word} ".join(f"({part[0]})" for part in parts), f" {name} ".join(f"({part[1]})" for part in parts))

    def query(self):
        said, filtered = self.predicate()
        options, end = ["--select", "id", "--format", "lines"], "map(.id)"
        pick = self.random.random()
        if pick < 0.2:
            options += ["--sort", "-r,id"]
            end = "sort_by([-.r, .id]) | map(.id)"
        elif pick < 0.3:
            options += ["--limit", "7", "--offset", "2"]
            end = "map(.id) | .[2:9]"
        elif pick < 0.4:
            options, end = ["--count", "--format", "lines"], "[length]"
        elif pick < 0.5:
            options, end = ["--sum", "id", "--format", "lines"], "[map(.id) | add // 0]"
        return said, options, f"[ [.[] | select({filtered})] | {end} ]"


def main():
    prefs = os.path.abspath(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.SystemRandom().randrange(1 << 32)
    print(f"seed {seed}")
    generator = Generator(seed)
    records = [generator.record(number) for number in range(120)]
    queries = [generator.query() for _ in range(count)]
    with tempfile.TemporaryDirectory() as folder:
        file = os.path.join(folder, "records.json")
        with open(file, "w") as output:
            json.dump(records, output)
        # A property list has no null: a missing value is the same to a predicate.
        binary = os.path.join(folder, "records.plist")
        with open(os.path.join(folder, "plain.json"), "w") as output:
            json.dump([{key: value for key, value in record.items() if value is not None} for record in records], output)
        environment = dict(os.environ, HOME=folder)
        subprocess.run([prefs, "convert", "-o", binary, os.path.join(folder, "plain.json"), "binary"], check=True,
                       env=environment, stdout=subprocess.DEVNULL)
        expected = []
        for start in range(0, count, 100):
            program = PRELUDE + "[" + ",\n".join(query[2] + "[0]" for query in queries[start:start + 100]) + "]"
            answer = subprocess.run(["jq", "-c", program, file], check=True, capture_output=True, text=True)
            expected += json.loads(answer.stdout)
        different = 0
        for number, ((said, options, _), wanted) in enumerate(zip(queries, expected)):
            source = file if number % 2 else binary
            answer = subprocess.run([prefs, "query", *options, "--", source, ":", said], capture_output=True, text=True,
                                    env=environment)
            found = [float(line) for line in answer.stdout.split()]
            if answer.returncode or found != [float(value) for value in wanted]:
                different += 1
                print(f"error: {source}: {said} {options}\n  jq:    {wanted}\n  prefs: {found} {answer.stderr}")
    print(f"{count - different} of {count} queries have jq's result")
    return 1 if different else 0


if __name__ == "__main__":
    sys.exit(main())
