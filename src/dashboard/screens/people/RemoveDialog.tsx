import { useQuery } from '@tanstack/react-query'
import { answer } from '../../api/client.ts'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { SafeText } from '../../components/text/SafeText.tsx'
import { useOrganization } from '../../hooks/organization.ts'
import { loadKeys } from '../keys/keys.ts'
import type { Person } from './people.ts'
import { peopleStrings as strings } from './strings.ts'

interface RemoveDialogProps {
  readonly person: Person
  readonly onClose: () => void
  readonly onRemoved: () => void
}

const mostNamed = 10

/** Asks before a member is removed, and says which keys end with that. */
export function RemoveDialog({ person, onClose, onRemoved }: RemoveDialogProps) {
  const { wholeApi } = useOrganization()
  const { data: keys } = useQuery({
    queryKey: ['keys', wholeApi.organizationId, 'of', person.id],
    queryFn: () => loadKeys(wholeApi, { member_id: person.id }),
    enabled: person.live_keys > 0,
  })
  const named = keys?.data.slice(0, mostNamed) ?? []
  return (
    <ConfirmDialog
      isOpen
      isDanger
      onClose={onClose}
      title={strings.removeTitle(person.name)}
      action={strings.remove}
      onConfirm={async () => {
        await answer(wholeApi.v1.DELETE('/v1/members/{id}', { params: { path: { id: person.id } } }))
        onRemoved()
      }}
    >
      <p>{strings.removeHint}</p>
      {person.live_keys === 0 ? (
        <p className="mt-2">{strings.noKeysEnd}</p>
      ) : (
        <>
          <p className="mt-2">{strings.keysEnd(person.live_keys)}</p>
          <ul className="mt-1 list-disc pl-5 text-ink">
            {named.map(({ id, name }) => (
              <li key={id}>
                <SafeText text={name} />
              </li>
            ))}
            {person.live_keys > mostNamed && <li>{strings.moreKeys(person.live_keys - mostNamed)}</li>}
          </ul>
        </>
      )}
    </ConfirmDialog>
  )
}
