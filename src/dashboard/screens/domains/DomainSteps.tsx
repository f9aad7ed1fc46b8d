import { Button } from '../../components/actions/Button.tsx'
import { Notice } from '../../components/feedback/Notice.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { type Step, Stepper } from '../../components/layout/Stepper.tsx'
import { PublishConflicts } from './PublishConflicts.tsx'
import { RecordList } from './RecordCard.tsx'
import { domainDetailStrings as strings } from './strings.ts'
import type { DnsSetup, Domain } from './types.ts'
import type { DomainQueries } from './useDomain.ts'

interface DomainStepsProps {
  readonly domain: Domain
  readonly queries: DomainQueries
  readonly mayWrite: boolean
}

/** Ownership → sending → receiving. */
export function DomainSteps({ domain, queries, mayWrite }: DomainStepsProps) {
  const { setup } = queries
  if (!setup.data) return setup.error ? null : <SkeletonRows rows={4} />
  return (
    <Stepper
      label={strings.steps}
      steps={[
        ownershipStep(domain, setup.data),
        sendingStep(domain, setup.data, queries, mayWrite),
        receivingStep(domain, setup.data, queries, mayWrite),
      ]}
    />
  )
}

/** What was proven stays so until DNS answers without the record: a server that is silent proves nothing. */
function isOwnershipProven(domain: Domain, { ownership }: DnsSetup): boolean {
  return ownership.verified || (ownership.record.status === 'unknown' && domain.ownership_verified)
}

function ownershipStep(domain: Domain, setup: DnsSetup): Step {
  const { verified, record } = setup.ownership
  const isProven = isOwnershipProven(domain, setup)
  return {
    key: 'ownership',
    title: strings.ownership,
    state: isProven ? 'done' : record.status === 'unknown' ? 'current' : 'failed',
    note: verified ? strings.ownershipDone : isProven ? strings.ownershipBefore : strings.ownershipNote,
    content: <RecordList records={[record]} isDone={verified} />,
  }
}

function sendingStep(domain: Domain, setup: DnsSetup, queries: DomainQueries, mayWrite: boolean): Step {
  const { provision, publication } = queries
  const isDone = domain.ready_to_send
  return {
    key: 'sending',
    title: strings.sendingTitle,
    state: isDone ? 'done' : domain.status === 'failed' || domain.provider_error !== undefined ? 'failed' : 'current',
    note: isDone ? strings.sendingDone : strings.sendingNote,
    content: (
      <div className="flex flex-col gap-3">
        {domain.provider_error !== undefined && (
          <Notice
            tone="bad"
            title={strings.providerError}
            action={
              mayWrite && (
                <Button size="small" isBusy={provision.isPending} onClick={() => provision.mutate()}>
                  {strings.retry}
                </Button>
              )
            }
          >
            {domain.provider_error}
          </Notice>
        )}
        {provision.error && <Refusal error={provision.error} />}
        {!isDone && mayWrite && <PublishButton setup={setup} queries={queries} />}
        {publication && <PublishConflicts conflicts={publication.conflicts} />}
        <RecordList records={domain.dns_records} isDone={isDone} />
      </div>
    ),
  }
}

function receivingStep(domain: Domain, setup: DnsSetup, queries: DomainQueries, mayWrite: boolean): Step {
  const { receive } = queries
  const { live, next_step: next = 'mx', identity, mx } = domain.receiving
  const isOpen = isOwnershipProven(domain, setup)
  const records = [...identity.dns_records, ...(next === 'mx' || live ? [mx.record] : [])]
  return {
    key: 'receiving',
    title: strings.receivingTitle,
    state: live ? 'done' : isOpen && domain.ready_to_send ? 'current' : 'waits',
    note: live ? strings.receivingDone : strings.receivingNote[next],
    content: (live || isOpen) && (
      <div className="flex flex-col gap-3">
        {identity.error !== undefined && <Notice tone="warn" title={identity.error} />}
        {receive.error && <Refusal error={receive.error} />}
        {!live && mayWrite && (
          <div className="flex flex-wrap gap-2">
            {identity.dns_records.length > 0 && next !== 'mx' && <PublishButton setup={setup} queries={queries} />}
            <Button
              kind={domain.ready_to_send && identity.dns_records.length === 0 ? 'primary' : 'secondary'}
              isBusy={receive.isPending}
              onClick={() => receive.mutate()}
            >
              {identity.dns_records.length === 0 ? strings.startReceiving : strings.receivingRefresh}
            </Button>
          </div>
        )}
        {!live && next === 'mx' && <p className="text-sm text-muted">{strings.publishMx}</p>}
        <RecordList records={records} isDone={live} />
      </div>
    ),
  }
}

function PublishButton({ setup, queries: { publish } }: { readonly setup: DnsSetup; readonly queries: DomainQueries }) {
  const { zone } = setup.dns_provider
  if (zone === null) return null
  return (
    <div className="flex flex-col gap-3">
      <div>
        <Button kind="primary" isBusy={publish.isPending} onClick={() => publish.mutate()}>
          {strings.publish(zone)}
        </Button>
      </div>
      {publish.error && <Refusal error={publish.error} />}
    </div>
  )
}
