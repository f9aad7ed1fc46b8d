import { describeRoute } from '../../api/describe.ts'
import { scopeRefusals } from '../../api/route.ts'
import { requireMemberScope } from '../../api/session/member-scope.ts'
import { sessionApi, sessionRefusals } from '../../api/session/session-route.ts'
import { templateContentRefusals } from './content.ts'
import { previewFrame } from './preview-frame.ts'
import { templatePreviewSchema, unsavedTemplateSchema } from './schema.ts'
import { previewUnsavedTemplate, type TemplatesDeps } from './templates.ts'

/** What the dashboard's editor of templates needs beside the routes of /v1. */
export function templateSessionRoutes({ renderer }: Pick<TemplatesDeps, 'renderer'>) {
  return sessionApi('template-editor')
    .post(
      '/app/api/templates/preview',
      ({ member, body }) => {
        requireMemberScope(member, 'templates:read')
        return previewUnsavedTemplate(renderer, member, body)
      },
      {
        detail: describeRoute('previewUnsavedTemplate', 'Render a template while it is written', [
          ...sessionRefusals,
          ...scopeRefusals,
          ...templateContentRefusals,
        ]),
        member: 'session',
        body: unsavedTemplateSchema,
        response: templatePreviewSchema,
      },
    )
    .get('/app/template/preview/view', () => previewFrame(), {
      detail: describeRoute('getTemplatePreviewFrame', 'The document that shows a rendered template', sessionRefusals),
      account: 'session',
    })
}
