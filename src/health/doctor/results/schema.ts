import { t } from 'elysia'
import { nullable, oneOf } from '../../../api/common-schemas.ts'
import { checkAreas } from '../check.ts'
import { countByLevel, type DoctorResult } from '../run-checks.ts'

export const doctorSchema = t.Object(
  {
    status: oneOf(['ok', 'warning', 'error']),
    counts: t.Object({
      errors: t.Integer(),
      warnings: t.Integer(),
      notes: t.Integer(),
      ok: t.Integer(),
      skipped: t.Integer(),
    }),
    findings: t.Array(
      t.Object(
        {
          check: t.String(),
          area: oneOf(checkAreas),
          level: oneOf(['error', 'warning', 'note', 'ok', 'skipped']),
          seen: t.String(),
          do: nullable(t.String({ description: 'null: nothing is to be done.' })),
        },
        { title: 'DoctorFinding' },
      ),
    ),
  },
  { title: 'DoctorRun' },
)

/** What a run of doctor found, as the command and the dashboard show it. */
export function toJsonDoctor(results: readonly DoctorResult[]): typeof doctorSchema.static {
  const { error: errors, warning: warnings, note: notes, ok, skipped } = countByLevel(results)
  return {
    status: errors > 0 ? 'error' : warnings > 0 ? 'warning' : 'ok',
    counts: { errors, warnings, notes, ok, skipped },
    findings: results.map(({ name, area, level, seen, ...rest }) => ({
      ...{ check: name, area, level, seen },
      do: 'todo' in rest ? rest.todo : null,
    })),
  }
}
