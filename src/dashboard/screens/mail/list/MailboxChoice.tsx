import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { AtSign, ChevronDown } from 'lucide-react'
import { useDeferredValue, useState } from 'react'
import { Button } from '../../../components/actions/Button.tsx'
import { classes } from '../../../components/classes.ts'
import { Popover } from '../../../components/overlays/Popover.tsx'
import { SafeText } from '../../../components/text/SafeText.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { mailApi } from '../api/mail-api.ts'
import { type FolderName, mailStrings as strings } from '../strings.ts'

interface MailboxChoiceProps {
  readonly mailboxId: string | undefined
  readonly folder: FolderName
}

/** Chooses the mailbox whose messages are shown. It is in the URL by its id. */
export function MailboxChoice({ mailboxId, folder }: MailboxChoiceProps) {
  const { api, organization } = useOrganization()
  const [prefix, setPrefix] = useState('')
  const typedName = useDeferredValue(prefix.trim())
  const { data } = useQuery({
    queryKey: ['mailboxes', 'choice', api.organizationId, api.brandId, typedName],
    queryFn: () => mailApi(api).mailboxes(typedName),
  })
  const { data: first } = useQuery({
    queryKey: ['mailboxes', 'choice', api.organizationId, api.brandId, ''],
    queryFn: () => mailApi(api).mailboxes(''),
  })
  const [chosen, setChosen] = useState<string | null>(null)
  const address = (data ?? first)?.data.find(({ id }) => id === mailboxId)?.address ?? chosen
  const isOnlyOne = first !== undefined && first.data.length < 2 && !first.has_more
  if (isOnlyOne && mailboxId === undefined) return null
  const link = { to: '/$organization/mail/$folder', params: { organization: organization.id, folder } } as const
  return (
    <Popover
      // Another choice closes it.
      key={mailboxId ?? ''}
      label={strings.mailbox}
      button={
        <Button icon={<AtSign />} className="max-w-64 min-w-0">
          <span className="min-w-0 truncate">
            {mailboxId === undefined ? strings.allMailboxes : <SafeText text={address} none={strings.mailbox} />}
          </span>
          <ChevronDown />
        </Button>
      }
    >
      <label className="sr-only" htmlFor="mailbox-prefix">
        {strings.findMailbox}
      </label>
      <input
        id="mailbox-prefix"
        className="input mb-2"
        placeholder={strings.findMailbox}
        autoComplete="off"
        maxLength={64}
        value={prefix}
        onChange={event => setPrefix(event.currentTarget.value)}
      />
      <ul className="flex flex-col">
        <li>
          <Link
            {...link}
            search={({ mailbox: _, ...rest }) => rest}
            className={classes(choice, !mailboxId && 'font-medium')}
          >
            {strings.allMailboxes}
          </Link>
        </li>
        {data?.data.map(mailbox => (
          <li key={mailbox.id}>
            <Link
              {...link}
              search={before => ({ ...before, mailbox: mailbox.id })}
              onClick={() => setChosen(mailbox.address)}
              aria-current={mailbox.id === mailboxId ? 'true' : undefined}
              className={classes(choice, mailbox.id === mailboxId && 'font-medium')}
            >
              <SafeText text={mailbox.address} className="min-w-0 truncate" />
              {mailbox.catch_all && <span className="shrink-0 text-xs text-faint">{strings.catchAll}</span>}
            </Link>
          </li>
        ))}
      </ul>
      {data?.has_more && <p className="mt-2 text-sm text-muted">{strings.moreMailboxes}</p>}
    </Popover>
  )
}

const choice =
  'flex min-h-8 items-center justify-between gap-2 rounded-md px-2 py-1 text-sm hover:bg-hover pointer-coarse:min-h-10'
