"""The words of the made newsroom: what each label, each beat and nobody in particular writes about.

Data only. Every list is one string, its items separated by commas, the most frequent first.
*Actors* are plural noun phrases, *things* noun phrases of either number, *moves* what things did
and *deeds* what actors did to a thing, both in the past tense, so that any combination is a correct
sentence. All places are invented.
"""

from __future__ import annotations

from typing import NamedTuple


class LabelWords(NamedTuple):
    """Who and what a document with the label writes about."""

    actors: str
    things: str


class BeatWords(NamedTuple):
    """What all labels of a beat share."""

    actors: str
    things: str
    moves: str


LABEL_WORDS = {
    "aviation": LabelWords(
        "airlines, pilots, airport managers, aircraft engineers, cabin crews, charter operators",
        "the flight schedule, new aircraft, jet fuel, the second runway, landing fees, "
        "seat prices, the airport terminal, long-haul routes, engine inspections, cargo flights, "
        "air safety rules",
    ),
    "coffee": LabelWords(
        "coffee growers, roasters, coffee exporters, café owners, pickers, tasters",
        "the coffee harvest, arabica prices, robusta beans, the export quota, the highland crop, "
        "coffee exports, roasting plants, frost on the plantations, green beans, warehouse stocks",
    ),
    "corn": LabelWords(
        "corn growers, feed makers, starch mills, maize traders, cattle farmers, silo operators",
        "the corn harvest, maize prices, animal feed, corn exports, ethanol plants, sweetcorn, "
        "the planting season, feed stocks, hybrid seed, silo capacity, the maize crop, "
        "starch output",
    ),
    "courts": LabelWords(
        "judges, lawyers, prosecutors, jurors, legal scholars, appeal judges",
        "the court ruling, the appeal, the trial, a disputed verdict, the hearing, legal costs, "
        "the damages claim, witness statements, the settlement, an injunction, the constitution",
    ),
    "crude-oil": LabelWords(
        "oil producers, refiners, drilling crews, oil traders, pipeline operators, tanker brokers",
        "crude oil, oil prices, the output ceiling, refinery margins, crude exports, "
        "the barrel price, offshore fields, fuel stocks, the pipeline, drilling permits, "
        "heavy crude, petrol demand",
    ),
    "defeat": LabelWords(
        "disappointed supporters, beaten finalists, critics of the coach, the losers",
        "the heavy defeat, a narrow loss, the losing streak, missed chances, an early exit, "
        "the lost final, a costly mistake, the collapse in the closing minutes",
    ),
    "disaster-relief": LabelWords(
        "relief workers, rescue teams, volunteers, aid agencies",
        "emergency shelters, relief supplies, the rescue effort, blankets and drinking water, "
        "the emergency fund, the field kitchens, the search for survivors",
    ),
    "domestic": LabelWords(
        "local councils, households, regional newspapers, county officials",
        "the home market, household budgets, local services, the national plan, the county budget",
    ),
    "earthquakes": LabelWords(
        "seismologists, building inspectors, geologists, survivors",
        "the earthquake, aftershocks, cracked walls, seismic readings, the fault line, tremors, "
        "collapsed buildings, the building code, ground movements, the epicentre",
    ),
    "elections": LabelWords(
        "voters, candidates, pollsters, party leaders, election officials, campaign managers",
        "the election, the ballot, opinion polls, the campaign, voter turnout, "
        "the party manifesto, postal votes, the coalition talks, a second round, "
        "the polling stations, the vote count",
    ),
    "film": LabelWords(
        "film directors, actors, cinema owners, screenwriters, critics, film students",
        "the film festival, a new drama, the screenplay, ticket sales, the leading role, "
        "the premiere, a silent film, the film studio, the documentary, box office figures, "
        "the closing scene",
    ),
    "fishing": LabelWords(
        "trawler crews, fishermen, fish traders, net makers, marine biologists",
        "the herring catch, fishing quotas, cod stocks, the trawler fleet, fish prices, "
        "the spawning grounds, the fish market, mesh sizes, the coastal waters, mackerel shoals",
    ),
    "floods": LabelWords(
        "flood wardens, riverside residents, dyke builders, pumping crews",
        "the flood, rising water, the river banks, flooded cellars, sandbags, the dyke, "
        "the water level, broken bridges, the flood barrier, the high-water mark, muddy fields",
    ),
    "football": LabelWords(
        "football clubs, strikers, goalkeepers, referees, team managers, defenders, club owners",
        "the league match, the second half, a late goal, the cup tie, the penalty, "
        "the transfer window, the football season, the home ground, the midfield, a free kick, "
        "the away game, the new coach",
    ),
    "foreign": LabelWords(
        "diplomats, foreign ministers, overseas buyers, envoys",
        "the embassy, border controls, the foreign ministry, the treaty, talks between neighbours",
    ),
    "gas": LabelWords(
        "gas suppliers, utilities, network operators, drilling crews, gas traders",
        "natural gas, gas prices, the gas pipeline, storage levels, liquefied gas, "
        "the winter supply, gas exports, heating demand, the offshore wells, household bills, "
        "spot contracts",
    ),
    "gold": LabelWords(
        "gold miners, bullion dealers, jewellers, refiners, assayers",
        "gold prices, bullion, gold mines, the ounce price, jewellery demand, gold reserves, "
        "the ore grade, gold coins, the deep shaft, vault deposits",
    ),
    "grain": LabelWords(
        "grain traders, grain boards, elevator operators, farm economists",
        "grain stocks, the grain market, grain shipments, the grain outlook, storage costs",
    ),
    "health": LabelWords(
        "doctors, nurses, patients, hospital managers, surgeons, pharmacists, health officials",
        "waiting times, hospital beds, patient care, blood pressure, the clinic, heart disease, "
        "the treatment, surgery, family doctors, the health budget, infections, medical training",
    ),
    "inflation": LabelWords(
        "shopkeepers, economists, consumer groups, wage negotiators, statisticians",
        "inflation, consumer prices, the price index, wage demands, food prices, "
        "the cost of living, rents, the annual rate, producer prices, price controls, "
        "energy bills, the shopping basket",
    ),
    "interest-rates": LabelWords(
        "central bankers, lenders, mortgage brokers, savers, borrowers, economists",
        "interest rates, the rate decision, borrowing costs, the discount rate, "
        "mortgage lending, the base rate, credit growth, savings rates, the rate rise, "
        "loan demand, monetary policy",
    ),
    "markets": LabelWords(
        "investors, fund managers, brokers, analysts",
        "market sentiment, share prices, trading volumes, the bond market, the stock exchange",
    ),
    "money-market": LabelWords(
        "money dealers, treasury managers, discount houses, central bankers",
        "the money market, overnight funds, treasury bills, the cash shortage, "
        "repurchase agreements, short-term paper, liquidity, the bank reserves, "
        "the day's fixing, certificates of deposit",
    ),
    "museums": LabelWords(
        "curators, museum visitors, collectors, restorers, archaeologists",
        "the museum, an exhibition, the old masters, the sculpture hall, museum tickets, "
        "a lost painting, the permanent collection, ancient coins, the new wing, "
        "the loan of a portrait",
    ),
    "music": LabelWords(
        "musicians, conductors, choirs, composers, orchestras, concert promoters, singers",
        "the concert, a new album, the string quartet, the opera season, the concert hall, "
        "ticket sales, the song contest, a folk tune, the symphony, the recording studio, "
        "the piano competition",
    ),
    "parliament": LabelWords(
        "members of parliament, ministers, opposition speakers, committee chairs, party leaders",
        "the bill, the budget debate, the vote of confidence, a committee report, the coalition, "
        "the second reading, the amendment, question time, the upper house, tax law, the reform",
    ),
    "ports": LabelWords(
        "dock workers, port managers, crane drivers, harbour pilots, customs officers",
        "the port, container cranes, the dock strike, harbour dues, the new quay, port traffic, "
        "unloading times, the deep-water berth, the warehouse district, dredging works",
    ),
    "shipping": LabelWords(
        "shipowners, ship brokers, crews, freight agents, shipyards, tanker brokers, insurers",
        "freight rates, container ships, the tanker fleet, cargo space, the shipping lane, "
        "bulk cargo, the voyage, charter contracts, vessel orders, the canal passage, "
        "ballast water, crew wages",
    ),
    "software": LabelWords(
        "programmers, software firms, computer users, security researchers, system administrators",
        "the software update, a programming error, the new version, computer networks, "
        "data storage, the operating system, open source code, password rules, the database, "
        "licence fees",
    ),
    "space": LabelWords(
        "astronomers, space engineers, mission controllers, astronauts, rocket builders",
        "the rocket launch, the satellite, the space probe, the lunar mission, a distant comet, "
        "the orbit, the launch pad, the space telescope, solar panels, the landing module",
    ),
    "telecoms": LabelWords(
        "phone companies, network operators, subscribers, regulators, cable firms",
        "the mobile network, call charges, broadband lines, the spectrum auction, roaming fees, "
        "fibre cables, the telephone exchange, data traffic, the satellite link, rural coverage",
    ),
    "tennis": LabelWords(
        "tennis players, umpires, seeded players, doubles partners, ball boys and girls",
        "the tennis tournament, the first set, a double fault, the tie-break, the grass court, "
        "the women's singles, the doubles final, the second serve, a long rally, "
        "the baseline game",
    ),
    "trade": LabelWords(
        "exporters, importers, trade negotiators, customs officers, manufacturers",
        "the trade surplus, import tariffs, exports, the trade agreement, customs duties, "
        "the trade gap, export licences, anti-dumping duties, the import quota, "
        "the tariff schedule, trade talks",
    ),
    "unemployment": LabelWords(
        "job seekers, trade unions, employers, labour offices, apprentices",
        "unemployment, the jobless rate, factory closures, new jobs, short-time work, vacancies, "
        "the labour market, retraining schemes, redundancy pay, school leavers, temporary jobs",
    ),
    "vaccines": LabelWords(
        "vaccine researchers, nurses, immunologists, family doctors, parents",
        "the vaccine, the vaccination campaign, booster doses, the measles outbreak, the trial, "
        "vaccine supplies, side effects, immunity, the influenza season, cold storage, antibodies",
    ),
    "victory": LabelWords(
        "jubilant supporters, the winners, proud parents, trophy engravers",
        "the clear victory, a late winner, the winning streak, the trophy, "
        "the championship title, the celebrations, a comeback, the lap of honour",
    ),
    "weather": LabelWords(
        "forecasters, meteorologists, gardeners, road crews, ski resorts",
        "the heavy rain, the dry spell, the storm, night frost, strong winds, the heatwave, "
        "the long-range forecast, snowfall, thunderstorms, the cold front, fog, hail",
    ),
    "wheat": LabelWords(
        "wheat growers, flour millers, bakers, wheat traders, seed merchants, combine drivers",
        "the wheat harvest, winter wheat, flour prices, wheat exports, durum, "
        "the milling quality, bread prices, the spring sowing, the wheat crop, seed stocks, "
        "protein content, mill output",
    ),
}

BEAT_WORDS = {
    "farm": BeatWords(
        "farmers, exporters, farm unions, market traders, agronomists",
        "the harvest, crop forecasts, export prices, the planting season, farm subsidies, "
        "storage costs",
        "suffered from the dry spring, fell short of the forecast, recovered, "
        "benefited from late rain, beat the hopes of the growers, kept the mills busy",
    ),
    "energy": BeatWords(
        "producers, traders, mining companies, engineers, analysts",
        "world prices, production costs, exploration, export prices, the new field, reserves",
        "fell short of the forecast, weighed on the mood, kept traders busy, recovered, "
        "lost appeal",
    ),
    "transport": BeatWords(
        "operators, passengers, freight agents, safety inspectors, insurers",
        "the timetable, fuel costs, delays, freight, safety checks, the new terminal",
        "caused delays, kept crews busy, improved, returned to normal, held up the traffic",
    ),
    "economy": BeatWords(
        "economists, bankers, analysts, finance ministers, business leaders, investors",
        "growth, the currency, the budget deficit, the quarterly figures, demand, "
        "the economic outlook",
        "surprised analysts, weighed on confidence, lifted the mood, worried investors, "
        "improved, kept dealers busy, fell short of the forecast",
    ),
    "sport": BeatWords(
        "players, supporters, coaches, organisers, reporters, finalists",
        "the final, the season, the tournament, the crowd, the training camp, the ranking, "
        "an injury",
        "delighted the crowd, silenced the stadium, kept the coaches busy, thrilled the stands, "
        "decided the evening, ended in tears",
    ),
    "medicine": BeatWords(
        "researchers, health officials, charities, laboratories, carers",
        "public health, the new study, prevention, the disease, medical advice, the risk",
        "improved, divided the experts, worried parents, gave patients hope, raised new questions",
    ),
    "politics": BeatWords(
        "politicians, lawmakers, campaigners, party members, commentators",
        "the law, the government, the debate, the majority, the scandal, public spending",
        "divided the parties, drew protests, stirred debate, kept lawyers busy, won support",
    ),
    "nature": BeatWords(
        "residents, local authorities, engineers, road crews, insurers",
        "the damage, the warning, power cuts, closed roads, the evacuation, repair costs",
        "worried several villages, kept crews busy, slowed the traffic, "
        "left a mark on the landscape",
    ),
    "arts": BeatWords(
        "artists, visitors, organisers, reviewers, patrons",
        "the programme, the prize, the opening night, the grant, the audience, the anniversary",
        "moved the audience, drew long queues, charmed the critics, divided the reviewers",
    ),
    "technology": BeatWords(
        "engineers, researchers, developers, start-up founders, regulators",
        "the new technology, the prototype, the research budget, the test, the patent, standards",
        "failed a test, passed a first trial, ran late, exceeded the plan, puzzled the engineers",
    ),
    "region": BeatWords(
        "officials, residents, visitors, local reporters",
        "the region, the border, the visit, the agreement",
        "made headlines, attracted visitors, stirred debate",
    ),
}

MOVES = (
    "changed little, drew fresh attention, came under scrutiny, gave cause for concern, "
    "held steady, turned out better than feared, disappointed, went according to plan, "
    "surprised observers"
)
DEEDS = (
    "discussed, raised doubts about, kept a close eye on, warned about, welcomed news of, "
    "published figures on, asked for clarity on, set out plans for, spoke at length about, "
    "gave details of, argued over, reviewed, complained about, reported progress on"
)
SENTENCES = (
    "{Thing} {moved} {time}, {actors} said.",
    "{Actors} {did} {thing}.",
    "{Actors} in {place} {did} {thing} {time}.",
    "According to {actors}, {thing} {moved}.",
    "In {place}, {thing} {moved}.",
    "{Actors} met {time} in {place} to talk about {thing}.",
    "{Time}, {thing} {moved}, and {actors} {did} {other}.",
    "Questions about {thing} dominated a meeting of {actors} in {place}.",
    "{Thing} and {other} remained the main concern of {actors}.",
    "{Actors} linked {thing} to {other}.",
    "For {actors}, {thing} mattered more than {other}.",
    "Interest in {thing} grew by {amount}, a survey of {actors} found.",
)
HEADLINES = (
    "{Thing} back in the spotlight",
    "{Actors} look ahead to {thing}",
    "New doubts over {thing}",
    "{Place}: {actors} weigh {thing}",
    "{Actors} divided over {thing}",
    "Fresh hope for {actors}",
    "{Thing} and {other} top the agenda",
    "{Actors} demand answers on {thing}",
)
FILLERS = (
    "Officials declined to comment.",
    "A fuller statement is expected next week.",
    "Observers in {place} described the mood as cautious.",
    "The figures will be revised {future}.",
    "Nobody was available for comment {time}.",
    "A spokeswoman in {place} confirmed the report.",
    "Further details will follow {future}.",
    "Similar reports reached {place} {time}.",
    "The matter is likely to come up again {future}.",
    "Several questions remain open.",
    "Experts in {place} called for patience.",
    "It was the third announcement of its kind this year.",
    "The costs are put at {amount} of the annual budget.",
    "A meeting in {place} ended without a decision.",
    "Talks will continue {future}.",
    "The announcement drew little reaction in {place}.",
    "Opinions on the matter differ widely.",
    "Preparations had begun {time}.",
)
ASIDES = (
    "In other news, {actors} {did} {thing}.",
    "Elsewhere, {thing} {moved}.",
    "Earlier reports had mentioned {thing}.",
    "The news came as {actors} {did} {thing}.",
    "Comparisons with {thing} were dismissed by {actors}.",
)
TIMES = (
    "on Monday, on Tuesday, on Wednesday, on Thursday, on Friday, at the weekend, this week, "
    "last week, this month, last month, late in the evening, early in the morning"
)
FUTURES = "next week, next month, later this week, in the autumn, in the spring, before the summer"
AMOUNTS = (
    "a tenth, a fifth, a quarter, a third, 2 per cent, 3 per cent, 4 per cent, 6 per cent, "
    "8 per cent, 12 per cent, 15 per cent"
)
HOME_PLACES = (
    "Lowmere, Port Calder, Ellenford, Brackwater, the northern counties, Stannick, Thornhay, "
    "the Marden valley, Upper Wexley, Carrow Bay"
)
FOREIGN_PLACES = (
    "Veldania, Korrand, San Teluro, Ostrel, Marvandi, Tarsova, Belkarra, the Isles of Quenn, "
    "Nuvalia, the Straits of Orrin"
)
PLACES = (
    "the capital, the city, the province, the old town, the suburbs, the countryside, the south, "
    "the west"
)
