import { describeRoute } from '../../api/describe.ts'
import { cursorRefusals } from '../../api/page.ts'
import { sessionApi } from '../../api/session/session-route.ts'
import {
  exportQuerySchema,
  importPieceSchema,
  importResultSchema,
  undoResultSchema,
  undoSchema,
} from './session-schema.ts'
import { exportFile, importPiece, sessionSuppressionRefusals, undoIncident } from './session-suppressions.ts'
import type { SuppressionsDeps } from './suppressions.ts'

/** Suppression lists as files, and the undoing of an incident, in the dashboard. */
export function sessionSuppressionRoutes(deps: SuppressionsDeps) {
  return sessionApi('session-suppressions')
    .post('/app/api/suppressions/import', ({ member, body }) => importPiece(deps, member, body), {
      detail: describeRoute('importSuppressions', 'Import a piece of a CSV file', sessionSuppressionRefusals),
      member: 'session',
      body: importPieceSchema,
      response: importResultSchema,
    })
    .post('/app/api/suppressions/undo', ({ member, body }) => undoIncident(deps, member, body), {
      detail: describeRoute('undoSuppressions', 'Remove the wrong suppressions of an incident', [
        ...sessionSuppressionRefusals,
        ...cursorRefusals,
      ]),
      member: 'session',
      body: undoSchema,
      response: undoResultSchema,
    })
    .get(
      '/app/api/suppressions.csv',
      async ({ member, query, set }) => {
        set.headers['content-type'] = 'text/csv; charset=utf-8'
        set.headers['content-disposition'] = 'attachment; filename="suppressions.csv"'
        return exportFile(deps, member, query.reason)
      },
      {
        detail: {
          ...describeRoute('exportSuppressions', 'Download the suppression list as CSV', sessionSuppressionRefusals),
          responses: { 200: { description: 'The list.', content: { 'text/csv': { schema: { type: 'string' } } } } },
        },
        member: 'confirmed',
        query: exportQuerySchema,
      },
    )
}
