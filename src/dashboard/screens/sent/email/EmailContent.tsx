import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { linkTo } from '../../../api/client.ts'
import { Notice } from '../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { Skeleton } from '../../../components/feedback/Skeleton.tsx'
import { Segmented } from '../../../components/fields/Segmented.tsx'
import { Section } from '../../../components/layout/Section.tsx'
import { SafeText, showControls } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { contentQuery } from './email-queries.ts'
import { emailStrings as strings } from './strings.ts'

const views = [
  { value: 'html', label: strings.html },
  { value: 'text', label: strings.text },
  { value: 'headers', label: strings.headers },
] as const
type View = (typeof views)[number]['value']

/** What was sent: as HTML in a document of its own, as text, and its header fields. */
export function EmailContent({ id }: { readonly id: string }) {
  const { api } = useOrganization()
  const { data: content, error } = useQuery(contentQuery(api, id))
  const [chosen, setChosen] = useState<View | null>(null)
  const view = chosen ?? (content?.html ? 'html' : 'text')
  return (
    <Section
      title={strings.content}
      actions={
        content?.available && <Segmented label={strings.contentView} value={view} onValue={setChosen} options={views} />
      }
    >
      {error && <Refusal error={error} />}
      {!content && !error && <Skeleton className="h-40 w-full" />}
      {content && !content.available && <Notice tone="info" title={strings.purged} />}
      {content?.available && (
        <div className="overflow-hidden rounded-lg border border-line bg-surface">
          {view === 'html' && content.html && (
            <iframe
              title={strings.contentOf}
              src={linkTo(api, `/app/sent-email/${id}/view`)}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              referrerPolicy="no-referrer"
              className="block h-96 w-full bg-white"
            />
          )}
          {view === 'text' && content.text && (
            // biome-ignore lint/a11y/noNoninteractiveTabindex: it is scrolled with the keyboard
            <pre className="max-h-96 overflow-auto p-4 font-sans text-base whitespace-pre-wrap" tabIndex={0} dir="auto">
              {showControls(content.text)}
            </pre>
          )}
          {view === 'headers' && <HeaderFields headers={content.headers ?? []} />}
          {view !== 'headers' && !content[view] && <p className="p-4 text-muted">{strings.noContent}</p>}
        </div>
      )}
    </Section>
  )
}

function HeaderFields({ headers }: { readonly headers: readonly { readonly name: string; readonly value: string }[] }) {
  return (
    <dl className="max-h-96 divide-y divide-line overflow-auto px-4 text-sm">
      {headers.map(({ name, value }, position) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: a header has no key, and its order is fixed
        <div key={position} className="grid gap-x-4 py-1.5 sm:grid-cols-[12rem_1fr]">
          <dt className="text-faint">{name}</dt>
          <dd className="min-w-0 font-mono text-xs leading-5 break-words">
            <SafeText text={value} />
          </dd>
        </div>
      ))}
    </dl>
  )
}
