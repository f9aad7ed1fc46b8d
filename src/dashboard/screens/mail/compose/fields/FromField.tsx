import { useQuery } from '@tanstack/react-query'
import { useEffect } from 'react'
import { answer } from '../../../../api/client.ts'
import { personalPrefix } from '../../../../api/personal-storage.ts'
import { TextLink } from '../../../../components/actions/TextLink.tsx'
import { Notice } from '../../../../components/feedback/Notice.tsx'
import { Refusal } from '../../../../components/feedback/Refusal.tsx'
import { useOrganization } from '../../../../hooks/organization.ts'
import { mailStrings as strings } from '../../strings.ts'
import { fromText, readFrom } from './from.ts'

interface FromFieldProps {
  /** `Name <name@domain>`; empty: not chosen yet. */
  readonly value: string
  readonly onValue: (value: string) => void
  readonly error: string | null
}

/** The sender: a name, and an address at one of the domains that may send. */
export function FromField({ value, onValue, error }: FromFieldProps) {
  const { api, organization, session } = useOrganization()
  const { data, error: refusal } = useQuery({
    queryKey: ['domains', 'ready', api.organizationId, api.brandId],
    queryFn: () => answer(api.v1.GET('/v1/domains')),
  })
  const ready = data?.data.filter(domain => domain.ready_to_send).map(({ domain }) => domain)
  const { name, localPart, domain } = readFrom(value)
  const first = ready?.[0]
  useEffect(() => {
    if (value !== '' || !first) return
    const last = readFrom(localStorage.getItem(lastFromKey(organization.id)) ?? '')
    const isUsable = ready?.includes(last.domain) && last.localPart !== ''
    onValue(fromText(isUsable ? last : { name: session.user.name, localPart: 'hello', domain: first }))
  }, [value, first, ready, onValue, organization.id, session.user.name])
  const change = (part: Partial<ReturnType<typeof readFrom>>) => {
    const next = fromText({ name, localPart, domain, ...part })
    onValue(next)
    localStorage.setItem(lastFromKey(organization.id), next)
  }
  if (refusal) return <Refusal error={refusal} />
  if (ready?.length === 0)
    return (
      <div className="py-2">
        <Notice
          tone="warn"
          title={strings.noDomains}
          action={
            <TextLink to="/$organization/domains" params={{ organization: organization.id }} search={true}>
              {strings.missing.open}
            </TextLink>
          }
        >
          {strings.noDomainsHint}
        </Notice>
      </div>
    )
  const domains = [...new Set([...(ready ?? []), ...(domain === '' ? [] : [domain])])]
  return (
    <fieldset className="flex min-w-0 gap-3 border-b border-line py-1.5">
      <legend className="sr-only">{strings.from}</legend>
      <span className="w-12 shrink-0 pt-1 text-sm text-muted" aria-hidden="true">
        {strings.from}
      </span>
      <div className="min-w-0 flex-1">
        <div className="flex flex-wrap items-center gap-1.5">
          <input
            aria-label={strings.displayName}
            placeholder={strings.displayName}
            autoComplete="off"
            maxLength={200}
            value={name}
            onChange={event => change({ name: event.currentTarget.value })}
            className="input h-8 min-w-24 flex-1 sm:max-w-56"
          />
          <div className="flex min-w-0 basis-full items-center gap-1.5 sm:flex-1 sm:basis-0">
            <input
              aria-label={strings.localPart}
              aria-invalid={error ? true : undefined}
              aria-describedby={error ? 'from-error' : undefined}
              autoComplete="off"
              autoCapitalize="none"
              spellCheck={false}
              maxLength={64}
              value={localPart}
              onChange={event => change({ localPart: event.currentTarget.value })}
              className="input h-8 max-w-44 min-w-0 flex-1 text-right"
            />
            <span className="text-muted" aria-hidden="true">
              @
            </span>
            <select
              aria-label={strings.domain}
              value={domain}
              onChange={event => change({ domain: event.currentTarget.value })}
              className="input h-8 w-auto max-w-56 min-w-0 flex-1 pr-8"
            >
              {domains.map(one => (
                <option key={one} value={one}>
                  {one}
                </option>
              ))}
            </select>
          </div>
        </div>
        {error && (
          <p id="from-error" className="mt-1 text-sm text-bad">
            {error}
          </p>
        )}
      </div>
    </fieldset>
  )
}

function lastFromKey(organizationId: string): string {
  return `${personalPrefix}from.${organizationId}`
}
