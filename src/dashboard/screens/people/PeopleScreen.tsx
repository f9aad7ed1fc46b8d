import { UserPlus } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { Button } from '../../components/actions/Button.tsx'
import { Refusal } from '../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../components/feedback/Skeleton.tsx'
import { PageHeader } from '../../components/layout/PageHeader.tsx'
import { Section } from '../../components/layout/Section.tsx'
import { LoadMore } from '../../components/lists/LoadMore.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { usePages } from '../../hooks/pages.ts'
import { Invitations } from './Invitations.tsx'
import { InviteDialog } from './InviteDialog.tsx'
import { MemberTable } from './MemberTable.tsx'
import type { Person } from './people.ts'
import { peopleStrings as strings } from './strings.ts'

/** `/app/<organization>/people`: members and open invitations, for owners and admins. */
export function PeopleScreen() {
  const { wholeApi } = useOrganization()
  const [isInviting, setInviting] = useState(false)
  const people = usePages<Person>(['people', wholeApi.organizationId], cursor =>
    answer(wholeApi.app.GET('/app/api/people', { params: { query: cursor === undefined ? {} : { cursor } } })),
  )
  return (
    <>
      <PageHeader
        title={strings.title}
        actions={
          people.rows && (
            <Button kind="primary" icon={<UserPlus />} onClick={() => setInviting(true)}>
              {strings.invite}
            </Button>
          )
        }
      >
        {strings.hint}
      </PageHeader>
      {people.error && <Refusal error={people.error} />}
      {!people.rows && !people.error && <SkeletonRows />}
      {people.rows && (
        <>
          <Section title={strings.members}>
            <MemberTable people={people.rows} />
            <LoadMore hasMore={people.hasMore} isLoading={people.isLoadingMore} onMore={people.loadMore} />
          </Section>
          <Invitations />
        </>
      )}
      <InviteDialog isOpen={isInviting} onClose={() => setInviting(false)} />
    </>
  )
}
