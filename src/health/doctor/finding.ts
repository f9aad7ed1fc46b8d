/**
 * What a check found. `error`: mail is lost, refused or not sent; `warning`: it suffers, or will; `note`: worth knowing.
 * `seen` is a sentence without its full stop, `todo` says what to do, in whole sentences.
 */
export type Finding =
  | { readonly level: 'ok' | 'skipped'; readonly seen: string }
  | { readonly level: 'note' | 'warning' | 'error'; readonly seen: string; readonly todo: string }

export type FindingLevel = Finding['level']

export function ok(seen: string): Finding {
  return { level: 'ok', seen }
}

/** Does not apply here, or cannot be known. */
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

/** One finding of several about the same thing: as grave as the gravest, told together with all that are no better than a note. */
export function combineFindings(findings: readonly Finding[]): Finding {
  const gravest = [...findings].sort((a, b) => severity[b.level] - severity[a.level])
  const [first] = gravest
  if (!first) return skipped('there is nothing to look at')
  const faults = gravest.filter(finding => 'todo' in finding)
  if (faults.length === 0) return { level: first.level, seen: combinedSeen(findings) } as Finding
  const todo = [...new Set(faults.map(fault => fault.todo))].join(' ')
  return { level: first.level, seen: combinedSeen(faults), todo } as Finding
}

function combinedSeen(findings: readonly Finding[]): string {
  return [...new Set(findings.map(finding => finding.seen))].join('; ')
}
