-- varq's part of Slurm's cli_filter: reservations for sbatch, srun and salloc.
--
-- A site's own cli_filter.lua calls it in two lines:
--
--     local varq = dofile("/usr/share/varq/varq.lua")
--     function slurm_cli_pre_submit(options, offset) ... return varq.pre_submit(options, offset) end
--
-- and, so that the user reads what is promised once Slurm has accepted the job:
--
--     function slurm_cli_post_submit(offset, job, step) ... return varq.post_submit(offset, job, step) end
--
-- A command without any of varq's options passes at once. For the others the SPANK
-- plugin has started a helper, varq-filter (a Go program), which knows what the options
-- mean. This script gives it the options, and does what the answer says.

local M = {}

local own = { "begin-by", "prob", "begin-after", "best-effort", "on-miss", "max-cost", "finish-by", "risk", "checkpoint-interval", "risky-nodes", "sizes", "size-by", "size", "risk-aversion", "lock-in", "tasks", "accounts" }

-- What is to be said once Slurm has accepted the job that is being submitted; nil
-- without a promise.
local promise

-- Where orders to the helper go, and where another answer comes from once the job is known; nil if
-- there is none.
local orders, later

-- given returns the first of varq's options that the command was given.
local function given(options)
	local values = options.spank and options.spank.varq
	if values then
		for _, name in ipairs(own) do
			local value = values[name]
			if value ~= nil and value ~= "unset" then
				return name
			end
		end
	end
end

-- say tells the user something. Slurm's own log_error would put "sbatch: error:
-- lua:" before every line.
local function say(text)
	io.stderr:write("varq: ", text, "\n")
end

local function refuse(text)
	say(text)
	return slurm.ERROR
end

-- file returns the path of the open file whose number the plugin has put into an
-- environment variable, or nil.
local function file(variable)
	local number = os.getenv(variable)
	return number and "/proc/self/fd/" .. number
end

-- write replaces what is in the file, or adds to a pipe. It returns whether that went well.
local function write(path, text)
	local to = path and io.open(path, "w")
	return to and to:write(text) and to:close()
end

-- put_in_box writes text into the box, a nameless file (see plugin/spank/box.c). No shell
-- reads the box, so text may be of any length and contain anything.
local function put_in_box(text)
	return write(file("VARQ_BOX"), text)
end

-- command_line returns the words of the command, each with a zero byte after it, or nothing.
local function command_line()
	local from = io.open("/proc/self/cmdline", "rb")
	local words = from and from:read("*a") or ""
	if from then
		from:close()
	end
	return words
end

-- read_answer reads lines until one that is the word end. It returns a list of { word, rest }, or
-- nil if there is no such line.
local function read_answer(from)
	local answer = {}
	for line in from:lines() do
		local word, rest = string.match(line, "^(%S+) ?(.*)$")
		answer[#answer + 1] = { word, rest }
		if word == "end" then
			return answer
		end
	end
end

-- ask has the helper plan the job of a command, "sbatch", "srun" or "salloc", whose options
-- are in the box, and its words. It returns the answer, a list of { word, rest }, or nil.
local function ask(command)
	orders = file("VARQ_ORDERS")
	local from = file("VARQ_ANSWER") and io.open(file("VARQ_ANSWER"), "r")
	if not from or not write(orders, "plan " .. command .. "\n") then
		return nil
	end
	local answer = read_answer(from)
	for _, line in ipairs(answer or {}) do
		if line[1] == "wait" then
			later = from
		end
	end
	if not later then
		from:close()
	end
	return answer
end

-- act has what to do for each word of an answer. The functions return true for a
-- refusal.
local act = {
	begin = function(options, rest) options["begin"] = rest end,
	time = function(options, rest) options["time"] = rest end,
	comment = function(options, rest)
		local user = options["comment"]
		options["comment"] = user and user ~= "" and user .. " " .. rest or rest
	end,
	exclude = function(options, rest) options["exclude"] = rest end,
	clusters = function(options, rest) options["clusters"] = rest end,
	nodes = function(options, rest) options["nodes"] = rest end,
	partition = function(options, rest) options["partition"] = rest end,
	account = function(options, rest) options["account"] = rest end,
	qos = function(options, rest) options["qos"] = rest end,
	ticket = function(_, rest) put_in_box("ticket " .. rest .. "\n") end,
	plan = function() promise = {} end,
	wait = function() end,
	say = function(_, rest)
		if promise then
			promise[#promise + 1] = rest
		else
			say(rest)
		end
	end,
	refuse = function(_, rest) say(rest) return true end,
	["end"] = function() end,
}

-- pre_submit makes the reservation that the options ask for, and changes the
-- submission accordingly. If varqd refuses, so does pre_submit. It says nothing of a
-- promise: Slurm may still refuse the job. If the command ends before post_submit, the
-- helper takes the promise back.
function M.pre_submit(options, offset)
	local option = given(options)
	if not option and not promise then
		return slurm.SUCCESS
	end
	if offset and tonumber(offset) > 0 then
		return refuse("a reservation is of one job, and not of the components of a heterogeneous one; submit it without varq's options, or its components as jobs of their own")
	end
	if os.getenv("SLURM_JOB_ID") and options["type"] == "srun" then
		return refuse("--" .. option .. " does not go together with an allocation that is there already")
	end
	if not put_in_box(slurm.json_cli_options(options) .. "\0" .. command_line()) then
		return refuse("the SPANK plugin of varq does not work here; nothing is submitted")
	end
	local answer = ask(options["type"] or "sbatch")
	if not answer then
		return refuse("varq-filter does not work here; nothing is submitted")
	end
	local refused = false
	for _, line in ipairs(answer) do
		local action = act[line[1]]
		if not action then
			return refuse("varq-filter is of another version than varq.lua; nothing is submitted")
		end
		refused = action(options, line[2]) or refused
	end
	return refused and slurm.ERROR or slurm.SUCCESS
end

-- post_submit tells the helper which job was submitted for the promise, and the user what
-- is promised. Slurm calls it once for each part of a submission, when srun and salloc
-- have their allocation.
function M.post_submit(_, job, _)
	if promise then
		write(orders, string.format("job %d\n", job))
		-- what is promised of the job as Slurm has accepted it; without an answer the plan holds
		local answer = later and read_answer(later)
		if answer then
			promise = {}
			for _, line in ipairs(answer) do
				if line[1] == "say" then
					promise[#promise + 1] = line[2]
				end
			end
		end
		for _, line in ipairs(promise) do
			say(line)
		end
		promise = nil
	end
	return slurm.SUCCESS
end

return M
