/** What the screens of templates say. */
export const templateStrings = {
  title: 'Templates',
  hint: 'Emails that your programs fill in: subject, HTML and text with variables (Liquid).',
  create: 'New template',
  name: 'Name',
  slug: 'Slug',
  slugHint: 'How a program names it: letters, digits and hyphens.',
  brand: 'Brand',
  subject: 'Subject',
  updated: 'Changed',
  empty: 'No templates yet',
  emptyHint: 'Begin with one of these, or with nothing.',
  blank: 'Blank',
  from: 'Begin with',
  back: 'Templates',
  save: 'Save',
  saved: 'Saved.',
  unsaved: 'Not saved',
  html: 'HTML',
  text: 'Text',
  variables: 'Variables',
  variablesHint: 'What a program gives. Those that are required refuse a send without them.',
  variableName: 'Name',
  variableDefault: 'Default',
  variableRequired: 'Required',
  variableValue: 'Preview value',
  addVariable: 'Add a variable',
  removeVariable: (name: string) => `Remove ${name || 'the variable'}`,
  part: 'Part',
  preview: 'Preview',
  previewOf: 'The template as an email',
  width: 'Width',
  widths: { phone: 'Phone', tablet: 'Tablet', desktop: 'Desktop' },
  missing: (names: string) => `Missing for a send: ${names}`,
  missingHint: 'Give them a value in the preview, a default, or make them optional.',
  noHtml: 'It has no HTML: what recipients see is the text.',
  noSubject: '(no subject)',
  sendTest: 'Send a test',
  sendTestTitle: 'Send a test of this template',
  sendTestHint: 'It is sent as it was saved, with the preview’s values.',
  to: 'To',
  fromAddress: 'From',
  noSender: 'No domain is ready to send from.',
  testSent: 'The test was accepted.',
  duplicate: 'Duplicate',
  duplicated: 'Duplicated.',
  delete: 'Delete',
  deleteTitle: 'Delete this template?',
  deleteHint: 'Sends that name it are refused from then on. This cannot be undone.',
  deleted: 'The template was deleted.',
  more: 'More',
  editor: (part: string) => `Source of the ${part}`,
} as const

/** Templates to begin with. */
export const starters = [
  {
    key: 'receipt',
    name: 'Receipt',
    hint: 'Says thanks, and lists what was bought.',
    subject: 'Your receipt {{ number }}',
    html: `<div style="font-family: system-ui, sans-serif; max-width: 32rem; margin: 0 auto; padding: 24px; color: #1a1a1f">
  <h1 style="font-size: 20px">Thank you, {{ name }}</h1>
  <p>This is your receipt {{ number }}.</p>
  <table style="width: 100%; border-collapse: collapse">
    {% for item in items %}
    <tr>
      <td style="padding: 8px 0; border-bottom: 1px solid #e7e7ec">{{ item.name }}</td>
      <td style="padding: 8px 0; border-bottom: 1px solid #e7e7ec; text-align: right">{{ item.price }}</td>
    </tr>
    {% endfor %}
  </table>
  <p style="text-align: right"><strong>{{ total }}</strong></p>
</div>
`,
    text: `Thank you, {{ name }}.

This is your receipt {{ number }}.
{% for item in items %}
{{ item.name }}: {{ item.price }}{% endfor %}

Total: {{ total }}
`,
    variables: [
      { name: 'name', required: true, default: null },
      { name: 'number', required: true, default: null },
      { name: 'items', required: false, default: [{ name: 'A pot of tea', price: '€ 4.20' }] },
      { name: 'total', required: false, default: '€ 4.20' },
    ],
  },
  {
    key: 'sign-in-link',
    name: 'Sign-in link',
    hint: 'One button, and the link in clear below it.',
    subject: 'Your link to sign in',
    html: `<div style="font-family: system-ui, sans-serif; max-width: 32rem; margin: 0 auto; padding: 24px; color: #1a1a1f">
  <h1 style="font-size: 20px">Sign in to {{ product }}</h1>
  <p>The link is good for {{ minutes }} minutes, once.</p>
  <p><a href="{{ link }}" style="display: inline-block; padding: 10px 18px; border-radius: 6px; background: #4f46e5; color: #ffffff; text-decoration: none">Sign in</a></p>
  <p style="color: #666673; font-size: 13px">{{ link }}</p>
  <p style="color: #666673; font-size: 13px">If you did not ask for it, ignore this email.</p>
</div>
`,
    text: `Sign in to {{ product }}:

{{ link }}

The link is good for {{ minutes }} minutes, once. If you did not ask for it, ignore this email.
`,
    variables: [
      { name: 'link', required: true, default: null },
      { name: 'product', required: false, default: 'our service' },
      { name: 'minutes', required: false, default: 15 },
    ],
  },
] as const
