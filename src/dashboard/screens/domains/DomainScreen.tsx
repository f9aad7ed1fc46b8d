import { useParams, useSearch } from '@tanstack/react-router'
import { RefreshCw } from 'lucide-react'
import { Button } from '../../components/actions/Button.tsx'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { TabLink, Tabs } from '../../components/layout/Tabs.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { Time } from '../../components/text/Time.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { DomainMenu } from './DomainMenu.tsx'
import { DomainSecurity } from './DomainSecurity.tsx'
import { DomainSteps } from './DomainSteps.tsx'
import { ManagedRecords } from './ManagedRecords.tsx'
import { domainStrings, domainDetailStrings as strings } from './strings.ts'
import { useDomain } from './useDomain.ts'

/** `/app/<organization>/domains/<id>` */
export function DomainScreen() {
  const { organization, may } = useOrganization()
  const { domain: id } = useParams({ from: '/$organization/domains/$domain' })
  const { tab } = useSearch({ from: '/$organization/domains/$domain' })
  const queries = useDomain(id)
  const { domain, setup, check } = queries
  const params = { organization: organization.id }
  const back = (
    <TextLink
      to="/$organization/domains"
      params={params}
      search={({ brand }) => (brand === undefined ? {} : { brand })}
    >
      {domainStrings.back}
    </TextLink>
  )
  if (!domain.data)
    return (
      <>
        <PageHeader title={domainStrings.title} back={back} />
        {domain.error ? <Refusal error={domain.error} /> : <SkeletonRows rows={4} />}
      </>
    )
  const refusal = check.error ?? setup.error
  return (
    <>
      {/* The name of the domain is on the page, but not in the window's title, which browsers keep. */}
      <PageHeader
        title={domainStrings.name}
        heading={<SafeText text={domain.data.domain} />}
        back={back}
        actions={
          may('domains:write') && (
            <>
              <Button icon={<RefreshCw />} isBusy={check.isPending} onClick={() => check.mutate()}>
                {strings.check}
              </Button>
              <DomainMenu
                domain={domain.data}
                records={setup.data ? [setup.data.ownership.record, ...setup.data.records] : []}
              />
            </>
          )
        }
      >
        {strings.lastChecked}: <Time at={domain.data.last_checked_at} none={strings.neverChecked} />
      </PageHeader>
      <Tabs label={strings.tabs}>
        <TabLink
          from="/$organization/domains/$domain"
          to="."
          search={({ brand }) => (brand === undefined ? {} : { brand })}
          activeOptions={{ exact: true }}
        >
          {strings.setUp}
        </TabLink>
        <TabLink
          from="/$organization/domains/$domain"
          to="."
          search={search => ({ ...search, tab: 'records' as const })}
          activeOptions={{ exact: true }}
        >
          {strings.records}
        </TabLink>
      </Tabs>
      {refusal && (
        <div className="mb-5">
          <Refusal error={refusal} />
        </div>
      )}
      {tab === 'records' ? (
        <ManagedRecords domainId={id} />
      ) : (
        <div className="grid gap-x-10 gap-y-8 xl:grid-cols-[minmax(0,1fr)_18rem]">
          <DomainSteps domain={domain.data} queries={queries} mayWrite={may('domains:write')} />
          <DomainSecurity domain={domain.data} queries={queries} />
        </div>
      )}
    </>
  )
}
