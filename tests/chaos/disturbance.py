"""What happens at a point: the disturbed run, the same command again, and what is wrong then."""
import re
import signal

from program_server import Hang
from scenarios import comparable, differences, newest_step, result_of

MANY = 3  # differences that are told
# Lines that are no error of the program's: its log, its warnings, and what LibTorch's profiler says besides.
NOTE = re.compile(r"\{|pagoda: warning: |pagoda: learning a shortlist |ERROR:.* output_json\.cpp:")
# What LibTorch's profiler says, with a stack, of each operator that it had no memory to record.
NOT_RECORDED = re.compile(r"^\[W[^\n]* record_function\.cpp:\d+\] Exception in RecordFunction callback: .*?"
                          r", for the range [^\n]*\n", re.DOTALL | re.MULTILINE)
# A command can do without the file, and says so.
NOT_KEPT = {"out/vocabulary/tokens.bin is missing": "tokens are not kept for the next start",
            "out/vocabulary/shortlist.safetensors is missing": "the shortlist is not kept"}

LOSSES = ("EIO", "ENOSPC")  # errors of a flush that leave it undone


def disturb(workplace, scenario, start, expected, point):
    """What is wrong, in a few words; None if nothing is. `start` is what the command finds, `expected` its result."""
    try:
        if point.state is None:
            workplace.fill(start)
            ending = workplace.run(scenario, **point.faults)
            problem = problem_of_kill(ending) if point.text.startswith("kill") else problem_of_failure(ending)
        else:
            workplace.fill(point.state)
            problem = ending = None
        after = workplace.held()
        problem = problem or problem_of_replaced(scenario, start, after, expected, is_over=point.call is None)
        if ending and ending.code == 0:
            problem = problem or problem_of_unheard(point, ending)
            problem = problem or told("ended with 0, but", [
                line for line in differences(result_of(after, ending.stdout), expected)
                if "left over" not in line and not (line in NOT_KEPT and NOT_KEPT[line] in ending.stderr)])
        return problem or problem_afterwards(workplace, scenario, after, expected, point)
    except Hang as hang:
        return str(hang)


def told(words, lines):
    lines = list(lines)
    more = f" and {len(lines) - MANY} more" if len(lines) > MANY else ""
    return f"{words} {', '.join(lines[:MANY])}{more}" if lines else None


def signal_name(code):
    return signal.Signals(-code).name


def problem_of_kill(ending):
    """In a run whose threads came in another order there may be fewer calls; it ends as it should then."""
    return None if ending.code in (0, -signal.SIGKILL) else f"ended with {ending.code} instead of being killed"


# OpenMP's own threads: its library says this after an empty line and ends the process itself.
OPENMP_LINE = "libgomp: Thread creation failed: Resource temporarily unavailable"


def problem_of_failure(ending):
    """The run finishes, or it says in one line why not."""
    if ending.code < 0:
        return f"ended by {signal_name(ending.code)}: {last_line(ending.stderr)}"
    if ending.code == 0:
        return None
    if ending.code not in (1, 2):
        return f"exit code {ending.code}: {last_line(ending.stderr)}"
    lines = [line for line in NOT_RECORDED.sub("", ending.stderr).splitlines() if not NOTE.match(line)]
    is_one = len(lines) == 1 and lines[0].startswith("pagoda: ")
    is_of_openmp = [line for line in lines if line] == [OPENMP_LINE]
    is_of_tool = bool(lines) and lines[-1].startswith("pagoda data: ") and "Traceback" not in ending.stderr
    return None if is_one or is_of_openmp or is_of_tool else f"not one line on stderr: {' / '.join(lines)[:200]!r}"


def problem_of_unheard(point, ending):
    """What could not be flushed may be lost later, whatever it looks like now: the run says so."""
    # Threads that came in another order have other numbers: what failed is in this run's own records.
    failed = [record for record in ending.records if record.name == "fsync" and record.outcome == "failed"]
    if not failed or not point.text.endswith(LOSSES) or "cannot flush" in ending.stderr:
        return None
    return f"ended with 0 and without a word, though a flush failed: {failed[0].names()}"


def last_line(text):
    lines = text.splitlines()
    return lines[-1][:150] if lines else "nothing on stderr"


def problem_of_replaced(scenario, start, after, expected, is_over):
    """A file that is replaced is whole at any time, and stays the new one once the command has ended."""
    name = scenario.replaced
    if not name or (name in after and comparable(name, after[name]()) == expected[name]):
        return None
    if name not in after or after[name]() != start[name]():
        return f"{name} holds neither what it held nor the new file"
    return f"{name} is not the new file" if is_over else None


def problem_afterwards(workplace, scenario, after, expected, point):
    """The same command without faults ends as the run that was never disturbed, from the newest checkpoint on."""
    again = workplace.run(scenario, scenario.again)
    if again.code != 0:
        return f"the same command again: exit code {again.code}: {last_line(again.stderr)}"
    held = workplace.held()
    problem = told("the same command again:", differences(result_of(held, again.stdout), expected))
    if problem or not scenario.keeps_progress:
        return problem
    wanted = point.kept_step if point.state is not None else newest_step(after)
    if point.call is None:
        wanted = newest_step(expected)  # the command had ended
    log_before = len(after["out/train.log"]()) if "out/train.log" in after else 0
    went_on = re.findall(rb"resumed after step (\d+)", held["out/train.log"]()[log_before:])
    step = int(went_on[-1]) if went_on else 0
    return f"step {wanted} was saved, the same command went on after step {step}" if step < wanted else None
