import { useQueryClient } from '@tanstack/react-query'
import { useNavigate } from '@tanstack/react-router'
import { Copy, Ellipsis, Send, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { answer } from '../../../api/client.ts'
import { Button } from '../../../components/actions/Button.tsx'
import { IconButton } from '../../../components/actions/IconButton.tsx'
import { ConfirmDialog } from '../../../components/overlays/ConfirmDialog.tsx'
import { Menu, MenuItem } from '../../../components/overlays/Menu.tsx'
import { showToast } from '../../../components/overlays/toasts.ts'
import { useOrganization } from '../../../hooks/organization.ts'
import { keepBrand } from '../../../shell/navigation/useGoShortcuts.ts'
import { templateStrings as strings } from '../strings.ts'
import type { Template } from '../template-form.ts'
import { SendTestDialog } from './SendTestDialog.tsx'

const slugCharacters = 40

interface TemplateMenuProps {
  readonly template: Template
  /** The preview's values, for a test. */
  readonly values: Readonly<Record<string, unknown>>
}

/** Sends a test, duplicates the template, deletes it. */
export function TemplateMenu({ template, values }: TemplateMenuProps) {
  const { api, organization, may } = useOrganization()
  const queryClient = useQueryClient()
  const navigate = useNavigate()
  const [open, setOpen] = useState<'test' | 'delete' | null>(null)
  const mayWrite = may('templates:write')
  const duplicate = async () => {
    const { slug, name, subject, text, html, variables, brand_id } = template
    try {
      const copy = await answer(
        api.v1.POST('/v1/templates', {
          body: {
            brand_id,
            slug: `${slug.slice(0, slugCharacters)}-${Date.now().toString(36)}`,
            name,
            ...(subject !== null && { subject }),
            ...(text !== null && { text }),
            ...(html !== null && { html }),
            variables,
          },
        }),
      )
      await queryClient.invalidateQueries({ queryKey: ['templates'] })
      showToast(strings.duplicated)
      await navigate({
        to: '/$organization/templates/$slug',
        params: { organization: organization.id, slug: copy.slug },
        search: { brand: copy.brand_id },
      })
    } catch (error) {
      showToast(error instanceof Error ? error.message : String(error), { kind: 'failed' })
    }
  }
  const remove = async () => {
    const params = { path: { slug: template.slug }, query: { brand_id: template.brand_id } }
    await answer(api.v1.DELETE('/v1/templates/{slug}', { params }))
    await navigate({ to: '/$organization/templates', params: { organization: organization.id }, search: keepBrand })
    await queryClient.invalidateQueries({ queryKey: ['templates', 'list'] })
    showToast(strings.deleted)
  }
  return (
    <>
      {may('email:send') && (
        <Button icon={<Send />} onClick={() => setOpen('test')}>
          {strings.sendTest}
        </Button>
      )}
      {mayWrite && (
        <Menu button={<IconButton label={strings.more} icon={<Ellipsis />} />}>
          <MenuItem icon={<Copy />} onSelect={() => void duplicate()}>
            {strings.duplicate}
          </MenuItem>
          <MenuItem icon={<Trash2 />} isDanger onSelect={() => setOpen('delete')}>
            {strings.delete}
          </MenuItem>
        </Menu>
      )}
      {open === 'test' && <SendTestDialog slug={template.slug} values={values} onClose={() => setOpen(null)} />}
      <ConfirmDialog
        isOpen={open === 'delete'}
        onClose={() => setOpen(null)}
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
