import { t } from 'elysia'
import { dateTimeSchema, nullable, oneOf } from '../../api/common-schemas.ts'
import { toIso } from '../../base/clock.ts'
import type { DoctorRun } from '../doctor/results/latest-results.ts'
import { doctorSchema, toJsonDoctor } from '../doctor/results/schema.ts'

export const instanceHealthSchema = t.Object(
  {
    version: t.String(),
    doctor: nullable(
      t.Object(
        { at: dateTimeSchema, is_quick: t.Boolean(), ...doctorSchema.properties },
        {
          description: 'What doctor found last in this process; null: it has not run yet.',
        },
      ),
    ),
    parts: t.Array(t.Object({ part: t.String(), ready: t.Boolean(), detail: nullable(t.String()) }), {
      description: 'What /ready answers now.',
    }),
    processes: t.Array(
      t.Object(
        {
          id: t.String(),
          host: t.String(),
          pid: t.Integer(),
          version: t.String(),
          roles: t.Array(t.String()),
          started_at: dateTimeSchema,
          seen_at: dateTimeSchema,
          is_alive: t.Boolean({ description: 'It said within the last minute that it runs.' }),
          breaker: nullable(t.Object({ opened_at: dateTimeSchema, reply: t.String() })),
        },
        { title: 'InstanceProcess' },
      ),
    ),
  },
  { title: 'InstanceHealth' },
)

const instanceLampSchema = t.Object(
  {
    name: oneOf([
      'doctor_findings',
      'queue_waiting',
      'relay_breaker_open',
      'disk_full_soon',
      'certificate_expiring',
      'restore_unproven',
      'other_versions',
    ]),
    level: oneOf(['notice', 'warning', 'critical']),
    count: t.Integer(),
    more: t.Boolean({ description: 'There are more than `count`.' }),
    unit: oneOf(['items', 'days'], { description: 'What `count` counts.' }),
    since: nullable(dateTimeSchema),
    detail: nullable(t.String({ description: 'A sentence of what it is based on.' })),
    href: t.String({ description: 'The screen where it is mended, below the instance.' }),
  },
  { title: 'InstanceLamp' },
)
export type InstanceLamp = typeof instanceLampSchema.static

/** What is wrong in the instance; empty: nothing is. */
export const instanceStatusSchema = t.Object({ data: t.Array(instanceLampSchema) }, { title: 'InstanceStatus' })

export function toJsonDoctorRun({ at, isQuick, results }: DoctorRun) {
  return { at: toIso(at), is_quick: isQuick, ...toJsonDoctor(results) }
}
