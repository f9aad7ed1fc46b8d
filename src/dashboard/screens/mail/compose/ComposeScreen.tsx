import { useQuery } from '@tanstack/react-query'
import { useParams } from '@tanstack/react-router'
import { useRef, useState } from 'react'
import { Refusal } from '../../../components/feedback/Refusal.tsx'
import { SkeletonRows } from '../../../components/feedback/Skeleton.tsx'
import { useOrganization } from '../../../hooks/organization.ts'
import { ComposeForm } from './ComposeForm.tsx'
import { readDraft } from './draft-store.ts'

/** `/mail/compose` and `/drafts/<id>`. A new message that was saved becomes a draft while one types in it. */
export function ComposeScreen() {
  const { draft } = useParams({ strict: false })
  const made = useRef<string>(undefined)
  const [form, setForm] = useState({ key: 0, draft, shown: draft })
  if (form.shown !== draft) {
    // The draft that the form made itself: it goes on.
    const isSame = draft !== undefined && draft === made.current
    setForm(isSame ? { ...form, shown: draft } : { key: form.key + 1, draft, shown: draft })
  }
  const onMade = (id: string) => {
    made.current = id
  }
  return form.draft === undefined ? (
    <ComposeForm key={form.key} stored={null} onMade={onMade} />
  ) : (
    <StoredForm key={form.key} id={form.draft} onMade={onMade} />
  )
}

function StoredForm({ id, onMade }: { readonly id: string; readonly onMade: (id: string) => void }) {
  const { wholeApi } = useOrganization()
  const { data, error } = useQuery({
    queryKey: ['draft', id],
    queryFn: () => readDraft(wholeApi, id),
    // What is typed is saved from here; a change elsewhere is found when it is.
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    refetchOnReconnect: false,
    refetchOnWindowFocus: false,
  })
  const first = useRef(data)
  first.current ??= data
  if (error && !first.current) return <Refusal error={error} />
  return first.current ? <ComposeForm stored={first.current} onMade={onMade} /> : <SkeletonRows rows={6} />
}
