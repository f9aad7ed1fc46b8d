import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis, FileDown, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../api/client.ts'
import { isRefusal } from '../../api/errors.ts'
import { IconButton } from '../../components/actions/IconButton.tsx'
import { TextLink } from '../../components/actions/TextLink.tsx'
import { useCopy } from '../../components/actions/useCopy.ts'
import { ConfirmDialog } from '../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../components/overlays/Menu.tsx'
import { showToast } from '../../components/overlays/toasts.ts'
import { useOrganization } from '../../hooks/organization.ts'
import { domainDetailStrings as strings } from './strings.ts'
import type { DnsRecord, Domain } from './types.ts'
import { toZoneFile } from './zone-file.ts'

interface DomainMenuProps {
  readonly domain: Domain
  readonly records: readonly DnsRecord[]
}

/** What is rarely done with a domain. */
export function DomainMenu({ domain, records }: DomainMenuProps) {
  const { api, organization } = useOrganization()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const { copy } = useCopy()
  const [isDeleting, setDeleting] = useState(false)
  const remove = async () => {
    await answer(api.v1.DELETE('/v1/domains/{id}', { params: { path: { id: domain.id } } }))
    showToast(strings.deleted(domain.domain))
    await navigate({ to: '/$organization/domains', params: { organization: organization.id } })
    queryClient.removeQueries({ queryKey: ['domains'] })
  }
  return (
    <>
      <Menu button={<IconButton label={strings.more} icon={<Ellipsis />} />}>
        <MenuItem
          icon={<FileDown />}
          onSelect={() => {
            copy(toZoneFile(records))
            showToast(strings.zoneFileCopied)
          }}
        >
          {strings.zoneFile}
        </MenuItem>
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} isDanger onSelect={() => setDeleting(true)}>
          {strings.delete}
        </MenuItem>
      </Menu>
      <ConfirmDialog
        isOpen={isDeleting}
        onClose={() => setDeleting(false)}
        title={strings.deleteTitle(domain.domain)}
        action={strings.delete}
        isDanger
        typedName={domain.domain}
        typedLabel={strings.deleteName(domain.domain)}
        mend={error =>
          isRefusal(error, 'domain_in_use') && (
            <TextLink to="/$organization/mailboxes" params={{ organization: organization.id }}>
              {strings.mailboxes}
            </TextLink>
          )
        }
        onConfirm={remove}
      >
        {strings.deleteHint}
      </ConfirmDialog>
    </>
  )
}
