/**
 * What a check found. `error`: mail is lost, refused or not sent; `warning`: mail is delayed or endangered, or will be; `note`:
 * worth knowing. `seen` is a sentence without its full stop; `todo` says in whole sentences what to do and why.
 */
export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly seen: string }
  | { readonly level: 'note' | 'warning' | 'error'; readonly seen: string; readonly todo: string }

export type FindingLevel = Finding['level']

export function ok(seen: string): Finding {
  return { level: 'ok', seen }
}

/** The check does not apply here, or could not be made. */
export function skipped(seen: string): Finding {
  return { level: 'skipped', seen }
}

export function note(seen: string, todo: string): Finding {
  return { level: 'note', seen, todo }
}

export function warning(seen: string, todo: string): Finding {
  return { level: 'warning', seen, todo }
}

export function error(seen: string, todo: string): Finding {
  return { level: 'error', seen, todo }
}

const severity: Readonly<Record<FindingLevel, number>> = { skipped: 0, ok: 1, note: 2, warning: 3, error: 4 }

/** Combines findings about one thing: the highest level, and all that are a note or worse. */
export function combineFindings(findings: readonly Finding[]): Finding {
  const bySeverity = [...findings].sort((a, b) => severity[b.level] - severity[a.level])
  const [first] = bySeverity
  if (!first) return skipped('there is nothing to check')
  const problems = bySeverity.filter(finding => 'todo' in finding)
  if (problems.length === 0) return { level: first.level, seen: combinedSeen(findings) } as Finding
  const todo = [...new Set(problems.map(problem => problem.todo))].join(' ')
  return { level: first.level, seen: combinedSeen(problems), todo } as Finding
}

function combinedSeen(findings: readonly Finding[]): string {
  return [...new Set(findings.map(finding => finding.seen))].join('; ')
}
