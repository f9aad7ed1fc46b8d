import { Section } from '../../components/layout/Section.tsx'
import { KeyValues } from '../../components/lists/KeyValues.tsx'
import { Time } from '../../components/text/Time.tsx'
import { domainDetailStrings as strings } from './strings.ts'
import type { Domain } from './types.ts'
import type { DomainQueries } from './useDomain.ts'

interface DomainSecurityProps {
  readonly domain: Domain
  readonly queries: DomainQueries
}

/** How old the DKIM keys are, and the MTA-STS policy. */
export function DomainSecurity({ domain, queries: { security } }: DomainSecurityProps) {
  const keys = security.data?.dkim_keys ?? []
  const policy = security.data?.mta_sts
  return (
    <Section title={strings.facts}>
      <KeyValues
        isStacked
        items={[
          ...keys.map(
            ({ selector, state, created_at }) =>
              [
                strings.dkimKey(selector),
                <>
                  {strings.keyStates[state]}, {strings.keySince} <Time at={created_at} />
                </>,
              ] as const,
          ),
          security.data
            ? [
                strings.mtaSts,
                policy ? (
                  <>
                    {strings.mtaStsModes[policy.mode]}, <Time at={policy.changed_at} show="day" />
                  </>
                ) : (
                  strings.mtaStsNever
                ),
              ]
            : null,
          [strings.added, <Time key="added" at={domain.created_at} show="day" />],
        ]}
      />
    </Section>
  )
}
