import { Link } from '@tanstack/react-router'
import { FilePen, PenLine } from 'lucide-react'
import { answer } from '../../../api/client.ts'
import { LinkButton } from '../../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { KeyboardList } from '../../../components/lists/KeyboardList.tsx'
import { PagedRows } from '../../../components/lists/PagedRows.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Time } from '../../../components/text/Time.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { usePages } from '../../../hooks/pages.ts'
import { mailStrings as strings } from '../strings.ts'

const previewLength = 200

/** `/app/<organization>/drafts`: what is written and not sent, of the whole organization. */
export function DraftsScreen() {
  const { wholeApi, organization } = useOrganization()
  const pages = usePages(['drafts', wholeApi.organizationId], cursor =>
    answer(wholeApi.v1.GET('/v1/drafts', { params: { query: cursor === undefined ? {} : { cursor } } })),
  )
  const params = { organization: organization.id }
  const compose = (
    <LinkButton kind="primary" icon={<PenLine />} to="/$organization/mail/compose" params={params} search={true}>
      {strings.compose}
    </LinkButton>
  )
  return (
    <>
      <PageHeader title={strings.drafts} actions={compose} />
      <PagedRows
        pages={pages}
        empty={
          <EmptyState icon={<FilePen />} title={strings.noDrafts}>
            {strings.noDraftsHint}
          </EmptyState>
        }
      >
        {rows => (
          <KeyboardList label={strings.drafts} rows={rows} rowKey={({ id }) => id}>
            {draft => (
              <div className="px-3 py-2">
                <div className="flex items-baseline gap-3">
                  <span className="min-w-0 flex-1 truncate text-sm text-muted">
                    <SafeText text={[...draft.to, ...draft.cc, ...draft.bcc].join(', ')} none={strings.noRecipients} />
                  </span>
                  <span className="text-xs text-faint">
                    <Time at={draft.updated_at} />
                  </span>
                </div>
                <Link
                  to="/$organization/drafts/$draft"
                  params={{ ...params, draft: draft.id }}
                  search={true}
                  data-open=""
                  className="block truncate text-sm font-medium before:absolute before:inset-0 focus-visible:outline-none focus-visible:before:outline-2 focus-visible:before:-outline-offset-2 focus-visible:before:outline-accent"
                >
                  <SafeText text={draft.subject} none={strings.noSubject} />
                </Link>
                <p className="truncate text-xs text-faint">
                  <SafeText text={draft.text?.slice(0, previewLength)} none="" />
                </p>
              </div>
            )}
          </KeyboardList>
        )}
      </PagedRows>
    </>
  )
}
