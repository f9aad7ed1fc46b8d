import { useQuery } from '@tanstack/react-query'
import { answer, createOrganizationApi } from '../../../api/client.ts'
import { queryKey } from '../../../api/keys.ts'
import { Checkbox } from '../../../components/fields/Checkbox.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { formStrings as strings } from './strings.ts'

interface MailboxPickerProps {
  /** '': of all brands. */
  readonly brandId: string
  readonly value: readonly string[]
  readonly onValue: (value: readonly string[]) => void
  readonly error: string | null
}

/** Narrows an endpoint to the messages of some mailboxes; none ticked: of all. */
export function MailboxPicker({ brandId, value, onValue, error }: MailboxPickerProps) {
  const { organization } = useOrganization()
  const api = createOrganizationApi(organization.id, brandId || null)
  const { data } = useQuery({
    queryKey: queryKey('mailboxes', api),
    queryFn: () => answer(api.v1.GET('/v1/mailboxes')),
  })
  if (!data || data.data.length === 0) return null
  return (
    <fieldset className="min-w-0">
      <legend className="mb-1 text-sm font-medium">{strings.mailboxes}</legend>
      <p className="mb-2 text-sm text-muted">{strings.mailboxesHint}</p>
      <div className="flex max-h-40 flex-col gap-1.5 overflow-y-auto text-sm">
        {data.data.map(({ id, address }) => (
          <Checkbox
            key={id}
            label={<SafeText text={address} />}
            isChecked={value.includes(id)}
            onChecked={isChecked => onValue(isChecked ? [...value, id] : value.filter(other => other !== id))}
          />
        ))}
      </div>
      {error && <p className="mt-1 text-sm text-bad">{error}</p>}
    </fieldset>
  )
}
