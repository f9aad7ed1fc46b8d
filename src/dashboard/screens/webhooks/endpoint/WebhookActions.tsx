import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Ellipsis, KeyRound, Pause, Pencil, Play, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem, MenuSeparator } from '../../../components/overlays/Menu.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { EditWebhookDialog } from '../form/EditWebhookDialog.tsx'
import { useWebhookApi } from '../useWebhookApi.ts'
import { enableWebhook, type Webhook } from '../webhook.ts'
import { RotateDialog } from './RotateDialog.tsx'
import { endpointStrings as strings } from './strings.ts'
import { TestDialog } from './TestDialog.tsx'

type WebhookDialog = 'test' | 'edit' | 'rotate' | 'disable' | 'enable' | 'delete'

/** What one does with an endpoint. */
export function WebhookActions({ webhook }: { readonly webhook: Webhook }) {
  const { organization } = useOrganization()
  const api = useWebhookApi()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [dialog, setDialog] = useState<WebhookDialog | null>(null)
  const close = () => setDialog(null)
  const switchTo = async (enabled: boolean) => {
    await enableWebhook(api, webhook.id, enabled)
    showToast(enabled ? strings.enabled : strings.disabled)
    await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
  }
  const remove = async () => {
    await answer(api.v1.DELETE('/v1/webhooks/{id}', { params: { path: { id: webhook.id } } }))
    showToast(strings.deleted)
    await navigate({ to: '/$organization/webhooks', params: { organization: organization.id }, search: keepBrand })
    await queryClient.invalidateQueries({ queryKey: ['webhooks'] })
  }
  const isDisabled = webhook.status === 'disabled'
  return (
    <>
      <Button icon={<Send />} onClick={() => setDialog('test')}>
        {strings.sendTest}
      </Button>
      <Menu button={<IconButton label={strings.more} icon={<Ellipsis />} />}>
        <MenuItem icon={<Pencil />} onSelect={() => setDialog('edit')}>
          {strings.edit}
        </MenuItem>
        <MenuItem icon={<KeyRound />} onSelect={() => setDialog('rotate')}>
          {strings.rotate}
        </MenuItem>
        {isDisabled ? (
          <MenuItem icon={<Play />} onSelect={() => setDialog('enable')}>
            {strings.enable}
          </MenuItem>
        ) : (
          <MenuItem icon={<Pause />} onSelect={() => setDialog('disable')}>
            {strings.disable}
          </MenuItem>
        )}
        <MenuSeparator />
        <MenuItem icon={<Trash2 />} isDanger onSelect={() => setDialog('delete')}>
          {strings.delete}
        </MenuItem>
      </Menu>
      {dialog === 'test' && <TestDialog webhook={webhook} onClose={close} />}
      {dialog === 'edit' && <EditWebhookDialog webhook={webhook} onClose={close} />}
      {dialog === 'rotate' && <RotateDialog webhook={webhook} onClose={close} />}
      <ConfirmDialog
        isOpen={dialog === 'disable'}
        onClose={close}
        title={strings.disableTitle}
        action={strings.disable}
        onConfirm={() => switchTo(false)}
      >
        {strings.disableHint}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={dialog === 'enable'}
        onClose={close}
        title={strings.enableTitle}
        action={strings.enable}
        onConfirm={() => switchTo(true)}
      >
        {strings.disabledSince}
      </ConfirmDialog>
      <ConfirmDialog
        isOpen={dialog === 'delete'}
        onClose={close}
        title={strings.deleteTitle}
        action={strings.delete}
        isDanger
        onConfirm={remove}
      >
        {strings.deleteHint}
      </ConfirmDialog>
    </>
  )
}
