import { useQueries, useQuery } from '@tanstack/react-query'
import { useNavigate, useParams } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { TextLink } from '../../../components/actions/TextLink.tsx'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../../components/layout/PageHeader.tsx'
import { Card, Section } from '../../../components/layout/Section.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { Badge } from '../../../components/text/Status.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { useShortcuts } from '../../../hooks/shortcuts.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { statusTone } from '../email-status.ts'
import { type LadderEmail, ladders } from '../ladder.ts'
import { EmailActions } from './EmailActions.tsx'
import { EmailContent } from './EmailContent.tsx'
import { EmailDetails } from './EmailDetails.tsx'
import { EmailEvents } from './EmailEvents.tsx'
import { EmailOrigin } from './EmailOrigin.tsx'
import { EmailReplies, type ReceivedReply } from './EmailReplies.tsx'
import { emailQuery, originQuery, replyQuery } from './email-queries.ts'
import { LadderCard } from './LadderCard.tsx'
import { emailStrings as strings } from './strings.ts'

const mostReplies = 20
/** With more recipients only those are opened at first whose mail has trouble. */
const mostOpen = 3
const minuteMs = 60_000

/** `/app/<organization>/sent/<id>`. */
export function EmailScreen() {
  const { api, organization } = useOrganization()
  const { email: id } = useParams({ from: '/$organization/sent/$email' })
  const { data: email, error } = useQuery(emailQuery(api, id))
  const { data: origin } = useQuery(originQuery(api, id))
  const replies = useReplies(email?.replies ?? [])
  const now = useMinute()
  const navigate = useNavigate()
  const toList = { to: '/$organization/sent', params: { organization: organization.id }, search: keepBrand } as const
  useShortcuts(strings.back, [{ key: 'Escape', label: strings.back, run: () => void navigate(toList) }])
  const back = <TextLink {...toList}>← {strings.back}</TextLink>
  if (!email)
    return (
      <>
        <PageHeader title={strings.id} back={back} />
        {error ? <Refusal error={error} /> : <SkeletonRows rows={5} />}
      </>
    )
  const authors = new Map(replies.flatMap(({ id, author }) => (author === null ? [] : [[id, author] as const])))
  const climbed = ladders(email as LadderEmail, {
    now,
    unconfirmedAfterHours: origin?.unconfirmed_after_hours ?? Number.POSITIVE_INFINITY,
    authors,
  })
  return (
    <>
      <PageHeader
        title={strings.id}
        back={back}
        heading={
          <span className="inline-flex max-w-full flex-wrap items-center gap-x-3 gap-y-1">
            <span className="min-w-0 break-words">
              <SafeText text={email.subject} none={strings.noSubject} />
            </span>
            <Badge tone={statusTone(email.status)}>{email.status}</Badge>
          </span>
        }
        actions={<EmailActions email={email} />}
      >
        {strings.from} <SafeText text={email.from} />
      </PageHeader>
      <div className="grid gap-x-8 xl:grid-cols-[minmax(0,1fr)_22rem]">
        <div className="min-w-0">
          <Section title={strings.recipients} hint={strings.recipientsHint}>
            <div className="flex flex-col gap-2">
              {climbed.map((ladder, position) => (
                <LadderCard
                  key={`${email.recipients[position]?.type} ${ladder.recipient}`}
                  ladder={ladder}
                  type={email.recipients[position]?.type ?? 'to'}
                  brandId={email.brand_id}
                  isOpen={climbed.length <= mostOpen || statusTone(ladder.status) === 'bad'}
                  reports={origin ? (origin.reports ?? 'unknown') : undefined}
                />
              ))}
            </div>
          </Section>
          {replies.length > 0 && (
            <Section title={strings.replies}>
              <EmailReplies replies={replies} />
            </Section>
          )}
          <EmailContent id={id} />
          <Section title={strings.events} hint={strings.eventsHint}>
            <EmailEvents events={(email as LadderEmail).events} />
          </Section>
        </div>
        <div className="min-w-0">
          <Section title={strings.details}>
            <Card>
              <EmailDetails email={email} />
            </Card>
          </Section>
          <Section title={strings.origin}>
            <Card>{origin ? <EmailOrigin origin={origin} /> : <SkeletonRows rows={2} />}</Card>
          </Section>
        </div>
      </div>
    </>
  )
}

/** The replies with their authors, where the member may read them; others only by their id. */
function useReplies(ids: readonly string[]): readonly ReceivedReply[] {
  const { api, may } = useOrganization()
  const shown = ids.slice(-mostReplies)
  const found = useQueries({
    queries: shown.map(id => ({ ...replyQuery(api, id), enabled: may('inbox:read'), retry: false })),
  })
  return shown.map((id, position) => {
    const message = found[position]?.data
    return {
      id,
      author: message?.from.address ?? null,
      receivedAt: message?.received_at ?? null,
      preview: message?.preview ?? '',
    }
  })
}

/** Now, moving on every minute. */
function useMinute(): number {
  const [now, setNow] = useState(Date.now)
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), minuteMs)
    return () => clearInterval(timer)
  }, [])
  return now
}
