import { openBroker } from '../../../src/core/open-broker.ts'
import { joinGroup } from '../../helpers/member.ts'

/** A process that joins the group, owns all queues of the topic, says so on a line, and stays until it is ended. */
const [db = '', group = '', clientId = '', topic = ''] = process.argv.slice(2)
const broker = await openBroker({ db })
// Whoever listens also looks after its neighbours.
broker.onNotification(() => {})
const grants = await joinGroup(broker, { group, clientId, topic })
process.stdout.write(`${JSON.stringify(grants.map(({ granted }) => granted))}\n`)
setInterval(() => {}, 1000)
