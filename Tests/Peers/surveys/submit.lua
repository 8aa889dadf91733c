-- wrk hands in surveys: each request is another one, of one of a hundred sites. Counts what was answered with what.
local site, run, token = os.getenv("SITE"), os.getenv("RUN"), os.getenv("TOKEN")
local sightings = {}
for n = 1, tonumber(os.getenv("SIGHTINGS")) do
   sightings[n] = string.format('{"species":"Papilio demodocus %d","count":%d,"latitude":-3.3%03d,"longitude":39.9}', n, n % 7, n)
end
local form = '{"schema":1,"survey":"%s-%d-%d","site":"%s-%d","start":"2026-05-01T13:00:00+03:00","stop":"2026-05-01T13:33:00+03:00",'
   .. '"surveyors":[{"name":"A. Wanjiru","role":"recorder"}],"sightings":[' .. table.concat(sightings, ",") .. "]}"
local threads = {}

function setup(thread)
   table.insert(threads, thread)
   thread:set("number", #threads)
end

function init()
   sent, stored, others = 0, 0, 0
end

function request()
   sent = sent + 1
   return wrk.format("POST", "/v1/surveys", {["Content-Type"] = "application/json", Authorization = "Bearer " .. token},
      string.format(form, run, number, sent, site, sent % 100))
end

function response(status)
   if status == 201 then stored = stored + 1 else others = others + 1 end
end

function done()
   local stored, others = 0, 0
   for _, thread in ipairs(threads) do
      stored, others = stored + thread:get("stored"), others + thread:get("others")
   end
   print(string.format("stored %d, other answers %d", stored, others))
end
