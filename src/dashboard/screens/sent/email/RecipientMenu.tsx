import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Ban, Ellipsis, RotateCcw } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { Menu, MenuItem, MenuLabel } from '../../../components/overlays/Menu.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { suppressionQuery } from './email-queries.ts'
import { emailStrings as strings } from './strings.ts'

/** Suppresses the recipient's address in the email's brand, or removes that. Absent for who may not. */
export function RecipientMenu({ recipient, brandId }: { readonly recipient: string; readonly brandId: string }) {
  const { api, may } = useOrganization()
  const queryClient = useQueryClient()
  const [wasOpened, setOpened] = useState(false)
  const query = suppressionQuery(api, brandId, recipient)
  const { data } = useQuery({ ...query, enabled: wasOpened && may('suppressions:read') })
  if (!may('suppressions:write')) return null
  const act = async (request: Promise<unknown>, done: string) => {
    try {
      await request
      await queryClient.invalidateQueries({ queryKey: ['suppressions'] })
      showToast(done)
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' })
    }
  }
  const suppress = () =>
    act(answer(api.v1.POST('/v1/suppressions', { body: { email: recipient, brand_id: brandId } })), strings.suppressed)
  const unsuppress = () =>
    act(
      answer(
        api.v1.DELETE('/v1/suppressions/{email}', {
          params: { path: { email: recipient }, query: { brand_id: brandId } },
        }),
      ),
      strings.unsuppressed,
    )
  return (
    <Menu
      button={
        <IconButton
          size="small"
          label={strings.actions(recipient)}
          icon={<Ellipsis />}
          onClick={() => setOpened(true)}
        />
      }
    >
      {data?.suppressed && <MenuLabel>{strings.isSuppressed}</MenuLabel>}
      {data?.suppressed ? (
        <MenuItem icon={<RotateCcw />} onSelect={() => void unsuppress()}>
          {strings.unsuppress}
        </MenuItem>
      ) : (
        <MenuItem icon={<Ban />} isDanger onSelect={() => void suppress()}>
          {strings.suppress}
        </MenuItem>
      )}
    </Menu>
  )
}
