import { useQuery } from '@tanstack/react-query'
import { Inbox } from 'lucide-react'
import { answer } from '../../../api/client.ts'
import { LinkButton } from '../../../components/actions/LinkButton.tsx'
import { EmptyState } from '../../../components/feedback/EmptyState.tsx'
import { CodeBlock } from '../../../components/text/CodeBlock.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'

/** An empty folder; an empty inbox says what is missing for mail to come, or how to try. */
export function MailEmpty({ folder }: { readonly folder: FolderName }) {
  const [title, hint] = strings.empty[folder]
  return (
    <EmptyState icon={<Inbox />} title={title} action={folder === 'inbox' ? <WhatIsMissing /> : undefined}>
      {hint}
    </EmptyState>
  )
}

function WhatIsMissing() {
  const { api, organization, session, may } = useOrganization()
  const tenant = [api.organizationId, api.brandId]
  const { data: mailboxes } = useQuery({
    queryKey: ['mailboxes', 'list', ...tenant],
    queryFn: () => answer(api.v1.GET('/v1/mailboxes')),
  })
  const { data: domains } = useQuery({
    queryKey: ['domains', 'list', ...tenant],
    queryFn: () => answer(api.v1.GET('/v1/domains')),
    enabled: may('domains:read'),
  })
  if (!mailboxes) return null
  const live = mailboxes.data.find(mailbox => mailbox.live)
  const params = { organization: organization.id }
  if (live) {
    const address = live.address.replace(/^\*@/, 'hello@')
    return (
      <div className="w-full text-sm">
        <p className="mb-2 text-muted">{strings.missing.ready}</p>
        <CodeBlock code={address} label={strings.missing.address} />
        <p className="mt-3 mb-2 text-muted">{strings.missing.orCommand}</p>
        <CodeBlock
          code={session.is_localhost ? `swaks --server localhost:2525 --to ${address}` : `swaks --to ${address}`}
          label={strings.missing.command}
        />
      </div>
    )
  }
  const steps = [
    { text: strings.missing.domain, isDone: (domains?.data.length ?? 0) > 0 || mailboxes.data.length > 0 },
    { text: strings.missing.mailbox, isDone: mailboxes.data.length > 0 },
    { text: strings.missing.receiving, isDone: false },
  ]
  return (
    <div className="w-full text-sm">
      <h3 className="font-medium">{strings.missing.title}</h3>
      <ol className="mt-1 mb-3 list-inside list-decimal text-muted">
        {steps.map(({ text, isDone }) => (
          <li key={text} className={isDone ? 'line-through opacity-70' : ''}>
            {text}
          </li>
        ))}
      </ol>
      {steps[0]?.isDone && !steps[1]?.isDone ? (
        <LinkButton to="/$organization/mailboxes" params={params} search={keepBrand}>
          {strings.missing.openMailboxes}
        </LinkButton>
      ) : (
        <LinkButton to="/$organization/domains" params={params} search={keepBrand}>
          {strings.missing.open}
        </LinkButton>
      )}
    </div>
  )
}
