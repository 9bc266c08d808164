"""The table of rows, as text."""


def table(rows):
    def number(value, digits):
        return "" if value is None else f"{value:.{digits}f}"

    lines = [("case", "figure", "ratio", "CPU us", "peak MiB", "target", "")]
    for row in rows:
        verdict = {None: "", True: "pass", False: "FAIL"}[row["passed"]]
        lines.append((row["case"], row["figure"], number(row["ratio"], 3), number(row["cpu_us"], 3),
                      number(row["peak_mib"], 0), row["target"], verdict))
    widths = [max(len(line[column]) for line in lines) for column in range(len(lines[0]))]
    return "\n".join("  ".join(cell.ljust(width) for cell, width in zip(line, widths)).rstrip() for line in lines)
