import { formatDate } from '../../src/mail/date.ts'
import type { DnsZoneFile } from './dns.ts'

/**
 * Made-up messages for teaching and testing a spam filter: spam of seven kinds and ham of seven, each put together from the
 * sentences of its kind with names and numbers drawn anew. They show that what is taught is learned and applied; they say
 * nothing about the accuracy of a filter on the mail of the world, whose spam is more varied and tries to look like ham.
 */
export interface CorpusMessage {
  readonly kind: 'spam' | 'ham'
  readonly text: string
  readonly from: string
}

interface Topic {
  readonly subjects: readonly string[]
  readonly sentences: readonly string[]
}

const spamTopics: readonly Topic[] = [
  {
    subjects: ['Your prescription is ready to ship', 'Lowest prices on all medication', 'Save {n}% at our pharmacy'],
    sentences: [
      'Order genuine tablets online without any prescription and save up to {n} percent today.',
      'Our licensed pharmacy ships discreetly to your door within {n} hours.',
      'Thousands of satisfied customers trust our pills for stronger performance every night.',
      'Click here to claim your free bonus pills with every order over {n} dollars.',
      'No doctor visit required, no embarrassing questions, total privacy guaranteed.',
      'This limited offer expires at midnight, so do not miss the cheapest pharmacy on the web.',
      'All brands in stock: buy one pack of tablets and get another one free.',
    ],
  },
  {
    subjects: ['You won {n} free spins', 'Exclusive casino bonus inside', 'Claim your jackpot, {name}'],
    sentences: [
      'Congratulations, your account has been credited with {n} free spins on our hottest slots.',
      'Deposit today and we triple your money with an exclusive welcome bonus at our casino.',
      'High rollers from around the globe win the jackpot at our roulette tables every day.',
      'Instant payouts, no verification, and VIP treatment for lucky winners like you.',
      'Your personal bonus code {n} is waiting, register now and start winning real cash.',
      'Play blackjack, poker and slots from your phone and withdraw your winnings at once.',
      'Only the next {n} players receive this jackpot bonus, hurry up and spin.',
    ],
  },
  {
    subjects: ['URGENT BUSINESS PROPOSAL', 'Inheritance of {n} million dollars', 'From the desk of barrister {name}'],
    sentences: [
      'I am barrister {name}, attorney to a late client who left {n} million dollars in a dormant account.',
      'The bank has mandated me to present a next of kin before the fund is confiscated.',
      'I solicit your utmost confidence in this mutually beneficial transaction, which is risk free.',
      'You will receive forty percent of the total inheritance sum for your kind assistance.',
      'Kindly forward your full names, telephone number and bank account for the transfer.',
      'Treat this proposal as strictly confidential, for security reasons, and reply urgently.',
      'As the beneficiary you must pay a small processing fee of {n} dollars to release the fund.',
    ],
  },
  {
    subjects: ['Turn {n} dollars into a fortune', 'This coin will explode', 'Secret crypto system revealed'],
    sentences: [
      'Our automated bitcoin robot turned {n} dollars into six figures in a single week.',
      'Insiders are buying this token right now before it explodes by a thousand percent.',
      'Guaranteed daily profit with zero risk, join our investment platform today.',
      'Bankers hate this secret trading system that makes ordinary people millionaires.',
      'Double your crypto within {n} hours, just send coins to the wallet below.',
      'Spots are limited to {n} new investors, activate your free trading account now.',
      'You do not need any experience, the algorithm earns passive income while you sleep.',
    ],
  },
  {
    subjects: ['Get your website to number one', 'Quality backlinks for {n} dollars', 'Rank first on search'],
    sentences: [
      'We guarantee first page ranking on all search engines within {n} days.',
      'Buy {n} high authority backlinks at the cheapest price and dominate your competitors.',
      'Our whitehat search engine optimization package increases your traffic overnight.',
      'I was visiting your website and noticed errors that keep you from ranking on top.',
      'Reply with your url and phone number for a free website audit and a price list.',
      'We also offer bulk email marketing lists with {n} million verified addresses.',
      'Affordable mobile app and logo design packages available for a limited time.',
    ],
  },
  {
    subjects: ['Luxury replica watches', 'Designer bags {n}% off', 'Identical copies, unbeatable prices'],
    sentences: [
      'Swiss replica watches that look exactly like the originals for only {n} dollars.',
      'Nobody can tell our designer handbags from the genuine luxury brands.',
      'Top quality copies of Rolex, Cartier and Omega with free worldwide shipping.',
      'Impress your friends with a luxury timepiece at a fraction of the retail price.',
      'Order two replica watches today and receive {n} percent off plus a gift box.',
      'Our outlet clearance of sunglasses, handbags and shoes ends this weekend.',
      'Every replica comes with a warranty and a money back guarantee.',
    ],
  },
  {
    subjects: ['You are pre-approved, {name}', 'Consolidate your debt today', 'Cash in {n} minutes'],
    sentences: [
      'You have been pre-approved for a loan of {n} thousand dollars regardless of your credit score.',
      'Bad credit, no credit, bankruptcy: everyone is approved within minutes.',
      'Consolidate all your debts and lower your monthly payments by {n} percent.',
      'Fast cash deposited straight into your account, no collateral needed.',
      'Mortgage rates have never been lower, refinance before this offer expires.',
      'Fill in our secure form now and a loan officer approves your application instantly.',
      'Eliminate your credit card debt legally without paying it back.',
    ],
  },
]

const hamTopics: readonly Topic[] = [
  {
    subjects: ['Agenda for the meeting on Thursday', 'Notes from today', 'Moving our call to {n}:30'],
    sentences: [
      'Could we move the weekly meeting to half past {n}, since {name} has another appointment?',
      'I have attached the minutes and the open points that we did not get to.',
      'Please add your topics to the agenda before Wednesday evening.',
      'The projector in room {n} is being repaired, so we use the small conference room.',
      'Item three is about the schedule for the release in autumn.',
      '{name} will give a short summary of the workshop and of the feedback of the participants.',
      'Let me know if you would rather dial in, then I set up the line.',
    ],
  },
  {
    subjects: ['Invoice {n} for last month', 'Re: order {n}', 'Question about the delivery note'],
    sentences: [
      'Please find enclosed the invoice number {n} for the services of last month.',
      'The amount is due within thirty days, by bank transfer to the account on the letterhead.',
      'We noticed that position {n} of the delivery note does not match the order.',
      'Our accounting department needs the purchase order number on future invoices.',
      'The pallets were unloaded at the warehouse on Tuesday, and two boxes were damaged.',
      'Could you send a corrected credit note to {name} in purchasing?',
      'Thank you for the reliable cooperation over the past year.',
    ],
  },
  {
    subjects: ['Review of the parser change', 'Build {n} fails on main', 'Re: flaky test'],
    sentences: [
      'I looked at the pull request, and the parser still accepts a header without a colon.',
      'Build {n} fails because the migration runs before the index is created.',
      'Could you split the commit, so that the refactoring can be reviewed by itself?',
      'The flaky test waits for a fixed time instead of for the event.',
      '{name} suggested a read lock here, but I think a version column is simpler.',
      'Memory grows by {n} megabytes an hour, and the heap snapshot points at the cache.',
      'Let us revert on staging and deploy again after the release freeze.',
    ],
  },
  {
    subjects: ['Sunday lunch', 'Pictures from the lake', 'Happy birthday, {name}'],
    sentences: [
      'The children had a wonderful time at the lake, and {name} learned to swim.',
      'Grandma asks whether you are coming for lunch on Sunday, there will be plum cake.',
      'I uploaded {n} pictures of the hike, the ones from the summit are my favourites.',
      'Please bring the folding chairs, we will be about {n} people in the garden.',
      'The dog is fine again, the vet says it was only something that she ate.',
      'We are thinking of renting the same cottage by the sea next summer.',
      'Give our love to your parents, and drive carefully in the snow.',
    ],
  },
  {
    subjects: ['Your parcel {n} is on its way', 'Appointment on Monday', 'Your library loan'],
    sentences: [
      'Your parcel with the tracking number {n} has left our depot and arrives tomorrow.',
      'The book that you reserved is at the counter of the library until Friday.',
      'We confirm your appointment with {name} on Monday at {n} minutes past nine.',
      'If nobody is at home, the driver leaves the parcel with a neighbour.',
      'Please bring your insurance card and the referral to the appointment.',
      'The water will be turned off in your street for two hours because of maintenance.',
      'Your train ticket and the seat reservation in coach {n} are attached as a document.',
    ],
  },
  {
    subjects: ['Draft of chapter {n}', 'Comments on your thesis', 'Seminar paper'],
    sentences: [
      'I read chapter {n} with pleasure, the argument about the archive is much clearer now.',
      'The footnotes on the second page need the year of the first edition.',
      'Could you explain why the sample leaves out the rural districts?',
      '{name} will be the second examiner, and needs the manuscript by the end of term.',
      'Your conclusion repeats the introduction, I would shorten it by a page.',
      'The seminar on early printing takes place in the reading room this semester.',
      'The regression in table {n} lacks the standard errors in parentheses.',
    ],
  },
  {
    subjects: ['Choir rehearsal', 'Volunteers for the market', 'Minutes of the club'],
    sentences: [
      'The rehearsal begins at seven, we sing the second and the fourth movement.',
      'We still need {n} volunteers for the stall at the Saturday market.',
      '{name} has the key to the parish hall, please call before you come.',
      'The club decided to repair the boathouse before the regatta in June.',
      'Tickets for the concert are sold at the bakery and at the door.',
      'Please hand in the registration of the youth team by the end of the week.',
      'The bus to the tournament leaves at a quarter to {n} from the school.',
    ],
  },
]

const names = [
  'Miller',
  'Okafor',
  'Schneider',
  'Rossi',
  'Novak',
  'Larsen',
  'Tanaka',
  'Dubois',
  'Costa',
  'Haddad',
  'Kowalski',
]

/** What DNS has of the hosts and domains that the messages come from. */
export const corpusZone: DnsZoneFile = Object.assign(
  {},
  ...Array.from({ length: 4 }, (_, n): DnsZoneFile => {
    const address = `198.51.100.${n + 10}`
    return {
      [`sender${n}.example`]: {
        A: [address],
        MX: [`10 mx.sender${n}.example`],
        TXT: ['v=spf1 ip4:198.51.100.0/24 -all'],
      },
      [`mx.sender${n}.example`]: { A: [address] },
    }
  }),
)

/** `count` messages of each kind, the same for the same seed, and no two alike. */
export function makeCorpus(seed: number, count: number): readonly CorpusMessage[] {
  const random = randomOf(seed)
  return Array.from({ length: count }, (_, index) =>
    (['spam', 'ham'] as const).map(kind => makeMessage(kind, `${seed}-${index}`, random)),
  ).flat()
}

type Random = (below: number) => number

function makeMessage(kind: CorpusMessage['kind'], id: string, random: Random): CorpusMessage {
  const topics = kind === 'spam' ? spamTopics : hamTopics
  const pick = <Item>(items: readonly Item[]): Item => items[random(items.length)] as Item
  const { subjects, sentences } = pick(topics)
  const fill = (text: string) =>
    text.replaceAll('{n}', () => String(10 + random(890))).replaceAll('{name}', () => pick(names))
  const chosen = sentences.map(sentence => ({ sentence, order: random(1 << 20) })).toSorted((a, b) => a.order - b.order)
  const body = chosen.slice(0, 4 + random(2)).map(({ sentence }) => fill(sentence))
  // Both kinds come from the same hosts and domains: only what they say tells them apart.
  const from = `${pick(names).toLowerCase()}@sender${random(4)}.example`
  const lines = [
    `From: ${pick(names)} <${from}>`,
    'To: hello@demo.test',
    `Subject: ${fill(pick(subjects))}`,
    `Date: ${formatDate(Date.now())}`,
    `Message-ID: <${kind}-${id}@${from.split('@')[1]}>`,
    'MIME-Version: 1.0',
    'Content-Type: text/plain; charset=utf-8',
  ]
  return { kind, from, text: `${lines.join('\r\n')}\r\n\r\n${body.join('\r\n')}\r\n` }
}

/** A linear congruential generator: the corpus is the same on each machine. */
function randomOf(seed: number): Random {
  let state = (seed * 2_654_435_761) >>> 0
  return below => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * below)
  }
}
